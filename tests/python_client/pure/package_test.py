"""What `import espalier` loads, and what it does not."""

import ast
import pathlib
import subprocess
import sys
import unittest
import unittest.mock

import espalier as es

PACKAGE = pathlib.Path(es.__file__).parent
LATE = ("torch", "grpc", "google.protobuf", "pandas", "matplotlib", "tqdm", "optuna", "asyncio", "pyarrow", "tensorboard", "mlflow",
        "wandb", "mcp")  # fmt: skip


def loaded_after(code):
    """Names of the modules that a new interpreter has after `code`."""
    program = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); {code}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split())


class PackageTest(unittest.TestCase):
    def test_importing_the_package_loads_nothing_else(self):
        loaded = loaded_after("import espalier")
        self.assertEqual([name for name in loaded if name.startswith("espalier.")], [])
        self.assertEqual([name for name in LATE if name in loaded], [])

    def test_sequences_and_spaces_need_the_standard_library_alone(self):
        loaded = loaded_after("import espalier as es; es.Space({'lr': es.Exponential(es.loguniform(1e-3, 1), 0.95)}).sample()")
        self.assertEqual([name for name in LATE if name in loaded], [])

    def test_what_an_export_needs_is_named_where_it_is_missing(self):
        for name, package in {"parquet": "pyarrow", "tensorboard": "tensorboard", "mlflow": "mlflow", "wandb": "wandb"}.items():
            hidden = {each: None for each in ("espalier.client.study", package)}  # neither is needed for the message
            with self.subTest(name), unittest.mock.patch.dict(sys.modules, hidden):
                with self.assertRaisesRegex(ModuleNotFoundError, rf"es.export.{name} needs {package}: pip install 'espalier-hpo\[{name}\]'"):
                    getattr(es.export, name)(None, "anywhere")

    def test_editors_and_type_checkers_see_just_the_names_that_there_are(self):
        stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
        places = {}
        for statement in stub.body:
            if isinstance(statement, ast.AnnAssign):  # of this very module
                self.assertTrue(hasattr(es, statement.target.id))
                continue
            for alias in statement.names:
                places[alias.asname] = (statement.module, alias.name)
        written = {name: (f"espalier.{place.partition(':')[0]}", place.partition(":")[2] or name) for name, place in es._PLACES.items()}
        written.update({name: ("espalier", name) for name in es._MODULES})
        self.assertEqual(places, written)

    def test_a_name_that_is_not_there_is_an_attribute_error(self):
        with self.assertRaisesRegex(AttributeError, "no attribute 'Cosinus'"):
            es.Cosinus
        self.assertFalse(hasattr(es, "Cosinus"))
        self.assertIn("Cosine", dir(es))


if __name__ == "__main__":
    unittest.main()
