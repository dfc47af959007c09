"""Packages that are imported late: their versions count, or the trainer is refused."""

import distributions
from cuts import CutsTest, Trial, begin
from fake_node_manager import Failed


class PackagesTest(CutsTest):
    def setUp(self):
        super().setUp()
        self.site = self.folder / "site"
        distributions.make(self.site, "lazy_named", requires=["lazy_required>=1; python_version > '3'", "lazy_extra; extra == 'more'"])
        for name in ("lazy_required", "lazy_extra", "lazy_hidden", "pyyaml"):
            distributions.make(self.site, name)

    def begun(self, trainer):
        worker = self.worker(f"lazy.py:{trainer}", distributions.environment(self.site))
        begin(worker, Trial())
        return worker

    def code(self, trainer):
        [described] = self.worker(f"lazy.py:{trainer}", distributions.environment(self.site)).describe()["trainers"]
        return described["codeDigest"]

    def test_the_version_of_what_a_function_imports_by_name_counts_and_that_of_what_this_requires(self):
        self.begun("ByName").train()
        codes = [self.code("ByName")]
        for name, is_other in [("lazy_named", True), ("lazy_required", True), ("lazy_extra", False), ("lazy_hidden", False),
                               ("pyyaml", True)]:  # fmt: skip, an extra of PyTorch's
            with self.subTest(name):
                distributions.make(self.site, name, "2.0", ["lazy_required"] if name == "lazy_named" else [])
                codes.append(self.code("ByName"))
                self.assertEqual(codes[-1] != codes[-2], is_other)

    def test_what_is_imported_without_being_named_until_a_step_was_trained_is_refused_in_both_forms(self):
        for trainer in ("InInit", "InAStep", "in_a_loop"):
            with self.subTest(trainer), self.assertRaisesRegex(Failed, r"has imported lazy_hidden,.*top of the file.*ignore_packages"):
                self.begun(trainer).train()

    def test_what_is_ignored_is_not_refused(self):
        self.begun("Ignoring").train()

    def test_what_an_evaluation_imports_is_said_once(self):
        worker = self.begun("InAnEvaluation")
        worker.train()
        worker.evaluate()
        worker.evaluate()
        self.assertEqual(worker.log.read_text().count("evaluate() has imported lazy_hidden"), 1)
