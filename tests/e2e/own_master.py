"""A master and a node manager with configurations of the test's own."""

from service import BIN, wait_until
from test_two_masters import Masters, free_port


class OwnMaster(Masters):
    """One of each, on a loopback port. `master_lines` and `node_lines` are the rest of their configurations, which a subclass may write
    in `prepare`, once there is a folder."""

    master_lines = ""
    node_lines = ""

    def prepare(self):
        pass

    def __enter__(self):
        super().__enter__()
        self.prepare()
        self.address = f"127.0.0.1:{free_port()}"
        self.start_master(0)
        wait_until(lambda: (self.root / "node-token").exists(), "tokens are there")
        self.start_node()
        return self

    def start_master(self, index):
        self.masters[index] = self.launch(
            "espalier-master", f"master-{index}",
            f'listen_address: "{self.address}"\ndatabase: "{self.database}"\nadministrator_token_file: "{self.root}/token"\n'
            f'local_node_token_file: "{self.root}/node-token"\n{self.master_lines}')

    def start_node(self):
        self.node = self.launch(
            "espalier-node", "node",
            f'master_address: "{self.address}"\nserver: "local"\nslot_count: 2\ncheckpoint_directory: "{self.root}/checkpoints"\n'
            f'work_directory: "{self.root}/node"\nruntimes {{ name: "built-in" command: "{BIN}/espalier-worker" }}\n'
            f'token_file: "{self.root}/node-token"\n{self.node_lines}')
        wait_until(self.servers, "the node manager is connected")
