"""What goes wrong between a user, this package and a server. Every exception says which input it is about, and what to do."""


class Error(Exception):
    """What every exception of the client is. `code`: what kind, such as "NOT_FOUND"; `field`: which input, as a path such as
    "hyper_parameters.lr[2]", empty if no single one; `message`: what is wrong and what was expected."""

    code = "INTERNAL"

    def __init__(self, message, field=""):
        super().__init__(f"{field}: {message}" if field else message)
        self.message = message
        self.field = field


class InvalidArgument(Error, ValueError):
    """What was asked for makes no sense: a malformed sequence, an unknown name, a value out of its range."""

    code = "INVALID_ARGUMENT"


class Unauthenticated(Error, PermissionError):
    """No token, or one that the server does not know, or one whose user may not do this."""

    code = "UNAUTHENTICATED"


class NotFound(Error, LookupError):
    """There is no such study, trial or stage, or it is another team's."""

    code = "NOT_FOUND"


class AlreadyExists(Error):
    """A running study of that name has other content."""

    code = "ALREADY_EXISTS"


class FailedPrecondition(Error):
    """Too late, or too early: the study is finished or cancelled, the trial is closed, no server runs the trainer."""

    code = "FAILED_PRECONDITION"


class ResourceExhausted(Error):
    """A limit of the server was met. The message says which."""

    code = "RESOURCE_EXHAUSTED"


class Aborted(Error):
    """The call was given up, or what was waited for is no longer read."""

    code = "ABORTED"


class Unavailable(Error, ConnectionError):
    """No server answers."""

    code = "UNAVAILABLE"


class WrongVersion(Error):
    """The server does not know this call, or what this package says with it, or says what this package does not know: it is of another
    version."""

    code = "UNIMPLEMENTED"


class TrialFailed(Error):
    """A trial came to no result: its training or evaluation failed for good. `evaluation` says of which trial, at which step."""

    code = "FAILED"

    def __init__(self, message, evaluation):
        super().__init__(message)
        self.evaluation = evaluation


class TrialCancelled(TrialFailed):
    """What was asked for was withdrawn, with its trial or its study."""

    code = "CANCELLED"
