"""Tests of tools/tidy: each rule finds what it is for, and lets pass what it should."""

import unittest

from tools.tidy import definitions, includes, protos, references, sizes, unused, words
from tools.tidy.source import SourceFile, strip_cpp

RULES = includes.Rules.of_repository()


def messages(problems):
    return [problem.message for problem in problems]


def include_problems(path, text):
    return messages(includes.check(SourceFile(path, text), RULES))


def word_problems(path, text):
    return messages(words.check(SourceFile(path, text), RULES))


class Includes(unittest.TestCase):
    def test_a_folder_may_include_itself_and_what_its_rule_names(self):
        self.assertEqual(include_problems("scheduler/a.cc", '#include "scheduler/a.h"\n#include "searchplan/plan/b.h"\n#include <map>'), [])

    def test_a_lower_folder_may_not_include_a_higher_one(self):
        self.assertEqual(len(include_problems("searchplan/plan/a.cc", '#include "scheduler/view.h"')), 1)
        self.assertEqual(len(include_problems("master/core/a.cc", '#include "master/store/b.h"')), 1)
        self.assertEqual(len(include_problems("master/loop/a.cc", '#include "worker/checkpoint/b.h"')), 1)

    def test_a_single_file_may_be_allowed_or_forbidden(self):
        self.assertEqual(include_problems("worker/trainer/a.cc", '#include "worker/checkpoint/checkpoint_format.h"'), [])
        self.assertEqual(len(include_problems("worker/trainer/a.cc", '#include "worker/checkpoint/checkpoint_store.h"')), 1)
        self.assertEqual(include_problems("searchplan/sequence/a.h", '#include "base/ids.h"'), [])
        self.assertEqual(len(include_problems("searchplan/sequence/a.h", '#include "base/clock.h"')), 1)

    def test_libraries_stay_in_their_files(self):
        self.assertEqual(include_problems("base/log.cc", "#include <spdlog/spdlog.h>"), [])
        self.assertEqual(len(include_problems("base/check.cc", "#include <spdlog/spdlog.h>")), 1)
        self.assertEqual(include_problems("worker/trainer/torch_state.cc", "#include <torch/torch.h>"), [])
        self.assertEqual(len(include_problems("worker/trainer/session.cc", "#include <torch/torch.h>")), 1)
        self.assertEqual(len(include_problems("master/core/a.cc", '#include "espalier/v1/study.pb.h"')), 1)
        self.assertEqual(len(include_problems("client/cli/up/up.cc", '#include "espalier/v1/study.grpc.pb.h"')), 1)
        self.assertEqual(include_problems("base/result.h", "#include <tl/expected.hpp>"), [])

    def test_torch_and_protobuf_do_not_meet_even_in_tests(self):
        text = '#include <torch/torch.h>\n#include "espalier/v1/trainer.pb.h"\n'
        self.assertEqual(include_problems("tests/unit/a_test.cc", text), ["torch and protobuf may not meet in one file"])

    def test_nobody_includes_a_main_or_a_neighbour_by_bare_name(self):
        self.assertEqual(include_problems("client/cli/a.cc", '#include "client/cli/main.cc"'), ["nobody includes a main"])
        self.assertEqual(len(include_problems("base/a.cc", '#include "check.h"')), 1)

    def test_a_folder_without_a_rule_is_a_problem(self):
        self.assertEqual(len(include_problems("elsewhere/a.cc", "")), 1)


class Words(unittest.TestCase):
    def test_pure_folders_take_no_clock_and_no_threads(self):
        self.assertEqual(len(word_problems("scheduler/a.cc", "auto t = Clock::now();")), 1)
        self.assertEqual(len(word_problems("master/core/a.cc", "std::mutex m;\nstd::mt19937 g;")), 2)
        self.assertEqual(word_problems("master/loop/a.cc", "std::mutex m;"), [])

    def test_a_ban_says_what_to_use_instead(self):
        self.assertIn("exact_math", word_problems("searchplan/sequence/a.cc", "return std::cos(x);")[0])
        self.assertEqual(word_problems("searchplan/plan/a.cc", "return std::cos(x);"), [])

    def test_comments_and_texts_are_not_code(self):
        self.assertEqual(word_problems("scheduler/a.cc", '// std::mutex\n/* getenv\n */ const char* s = "rand";'), [])

    def test_an_open_end_names_its_issue(self):
        self.assertEqual(len(word_problems("base/a.cc", "// TODO: later")), 1)
        self.assertEqual(word_problems("base/a.cc", "// TODO(#12): later"), [])

    def test_a_header_starts_with_its_contract(self):
        self.assertEqual(len(word_problems("base/a.h", "#pragma once")), 1)
        self.assertEqual(word_problems("base/a.h", "// What it is.\n#pragma once"), [])

    def test_a_query_file_holds_one_statement(self):
        self.assertEqual(word_problems("sql/queries/run/end.sql", "-- a; b\nSELECT ';';\n"), [])
        self.assertEqual(len(word_problems("sql/queries/run/end.sql", "SELECT 1; SELECT 2;")), 1)
        self.assertEqual(word_problems("sql/migrations/0001.sql", "CREATE TABLE a (); CREATE TABLE b ();"), [])


class Sizes(unittest.TestCase):
    def lengths(self, text):
        return list(sizes.functions(SourceFile("base/a.cc", text)))

    def test_functions_are_measured_and_nothing_else(self):
        text = "namespace a {\nclass B {\n public:\n  int C() const {\n    if (x) {\n      y();\n    }\n    return 1;\n  }\n};\n}\n"
        self.assertEqual(self.lengths(text), [(4, 6)])

    def test_constructors_with_initializers_are_functions(self):
        self.assertEqual(self.lengths("A::A(int x)\n    : x_(x), y_{x} {\n  f();\n}\n"), [(1, 4)])

    def test_lambdas_belong_to_their_function(self):
        self.assertEqual(self.lengths("void A() {\n  auto b = [](int x) {\n    return x;\n  };\n}\n"), [(1, 5)])

    def test_tests_are_functions(self):
        self.assertEqual(self.lengths('TEST_CASE("a {") {\n  x();\n}\n'), [(1, 3)])

    def test_initializers_are_no_functions(self):
        self.assertEqual(self.lengths("const int a[] = {\n  1,\n};\nstruct S {\n  int x{1};\n};\n"), [])

    def test_a_long_function_and_a_long_file_are_problems(self):
        source = SourceFile("base/a.cc", "void A() {\n" + "  x();\n" * 70 + "}\n")
        self.assertEqual(messages(sizes.check(source)), ["a function of 72 lines; at most 70: give its parts names"])
        self.assertEqual(len(list(sizes.check(SourceFile("base/a.cc", "\n" * 501)))), 1)
        self.assertEqual(list(sizes.check(SourceFile("tests/a.cc", "\n" * 501))), [])

    def test_python_functions_are_measured(self):
        self.assertEqual(list(sizes.functions(SourceFile("a.py", "def a():\n    x()\n    y()\n"))), [(1, 3)])

    def test_stripping_keeps_line_numbers(self):
        text = 'a /* 1\n2 */ "x{\\"" R"(\n{\n)" 1\'000 \'{\' // {\nb'
        self.assertEqual(strip_cpp(text).count("\n"), text.count("\n"))
        self.assertNotIn("{", strip_cpp(text))


PROTO = """// A file.
syntax = "proto3";
package espalier.v1;
// Does.
service S {
  // Runs.
  rpc Run(stream RunRequest) returns (RunResponse) {}
}
message RunRequest {
  // How hot, in degrees; unset: cold.
  double heat = 1;
  oneof what { // A choice.
    string text = 2;  // Any.
  }
  map<string, int64> sizes_bytes = 4;
  reserved 5, 7 to 9;
}
message RunResponse {}
"""


class References(unittest.TestCase):
    def test_links_lead_to_files_and_folders_of_the_repository(self):
        text = "[a](b.md) [c](../d/) [e](gone.md#part) [f](https://example.org/x) [g](#here)"
        problems = references.check_links(SourceFile("docs/a.md", text), ["docs/b.md", "d/e.cc"])
        self.assertEqual(messages(problems), ["links to gone.md, which is not there"])

    def test_laws_name_tests_that_are_there(self):
        laws = SourceFile("docs/laws.md", '- `tests/a_test.cc`: "it holds"\n- `tests/a_test.cc`: "it is gone"\n- `b.cc`: "no file"')
        tests = SourceFile("tests/a_test.cc", 'TEST_CASE("it "\n    "holds") {}')
        problems = messages(references.check_laws([laws, tests]))
        self.assertEqual(len(problems), 2)
        self.assertIn("it is gone", problems[0])

    def test_an_include_rule_for_nothing_is_a_problem(self):
        rules = includes.Rules('[library]\n[[rule]]\npath = "a"\n[[rule]]\npath = "a/gone.cc"\n')
        self.assertEqual(len(list(references.check_rules(rules, ["a/b.cc"]))), 1)


class Protos(unittest.TestCase):
    def comments(self, text):
        return messages(protos.check_comments(SourceFile("proto/a.proto", text)))

    def compatibility(self, text, record):
        return messages(protos.check_compatibility([SourceFile("proto/a.proto", text)], record))

    def test_what_is_commented_passes(self):
        self.assertEqual(self.comments(PROTO), [])

    def test_what_is_not_is_named(self):
        text = PROTO.replace("  // Runs.\n", "").replace("  // How hot, in degrees; unset: cold.\n", "")
        found = self.comments(text)
        self.assertEqual([message.split(" has")[0] for message in found], ["rpc S.Run", "field RunRequest.heat"])

    def test_a_comment_at_the_end_of_the_line_before_is_not_ours(self):
        text = "// A file.\nmessage A {  // A thing.\n  bool x = 1;\n}"
        self.assertEqual(len(self.comments(text)), 1)

    def test_fields_that_say_it_all_need_no_comment(self):
        self.assertEqual(self.comments("// F.\n\n// A.\nmessage A {\n  int64 study_id = 1;\n\n  B b = 2;\n}\n// B.\nmessage B {}"), [])

    def test_the_record_lists_fields_values_and_rpcs(self):
        record = protos.record_of([SourceFile("a.proto", PROTO)])
        self.assertIn("field espalier.v1.RunRequest.heat = 1 double\n", record)
        self.assertIn("field espalier.v1.RunRequest.text = 2 string\n", record)
        self.assertIn("field espalier.v1.RunRequest.sizes_bytes = 4 map<string,int64>\n", record)
        self.assertIn("rpc espalier.v1.S.Run ( stream RunRequest ) returns ( RunResponse )\n", record)
        self.assertEqual(self.compatibility(PROTO, record), [])

    def test_a_number_keeps_its_name_and_type(self):
        record = protos.record_of([SourceFile("a.proto", PROTO)])
        self.assertEqual(len(self.compatibility(PROTO.replace("double heat", "float heat"), record)), 1)
        self.assertEqual(len(self.compatibility(PROTO.replace("heat = 1", "heat = 3"), record)), 1)

    def test_a_field_may_become_optional_and_not_the_reverse(self):
        optional = PROTO.replace("double heat", "optional double heat")
        record = protos.record_of([SourceFile("a.proto", PROTO)])
        self.assertEqual(self.compatibility(optional, record), [])
        self.assertEqual(len(self.compatibility(optional.replace("double heat", "float heat"), record)), 1)
        record = protos.record_of([SourceFile("a.proto", optional)])
        self.assertEqual(len(self.compatibility(PROTO, record)), 1)

    def test_a_removed_field_is_reserved(self):
        record = protos.record_of([SourceFile("a.proto", PROTO)])
        removed = PROTO.replace("  double heat = 1;\n", "")
        self.assertEqual(len(self.compatibility(removed, record)), 1)
        self.assertEqual(self.compatibility(removed.replace("reserved 5", "reserved 1, 5"), record), [])

    def test_new_fields_are_fine(self):
        record = protos.record_of([SourceFile("a.proto", PROTO)])
        self.assertEqual(self.compatibility(PROTO.replace("double heat", "bool cold = 3;\n  double heat"), record), [])


def classes_defined_twice(*texts):
    return [problem.message.split()[0] for problem in definitions.check_classes([SourceFile(f"base/{i}.h", text) for i, text in enumerate(texts)])]


class Definitions(unittest.TestCase):
    def test_a_class_has_one_definition_in_its_namespace(self):
        struct = "namespace a {\nstruct S {\n  int n;\n};\n}  // namespace a\n"
        self.assertEqual(classes_defined_twice(struct, struct.replace("struct", "class")), ["a::S"])
        self.assertEqual(classes_defined_twice(struct, struct.replace("S {", "S final : public B {")), ["a::S"])
        self.assertEqual(classes_defined_twice("void F() {\n}\n" + struct, "// namespace a {\n" + struct), ["a::S"])

    def test_classes_of_other_namespaces_of_classes_and_of_one_file_are_others(self):
        struct = "namespace a {\nstruct S {\n  int n;\n};\n}  // namespace a\n"
        for other in (struct.replace("namespace a", "namespace b"), "namespace a {\n" + struct + "}  // namespace a\n", struct.replace("S {", "T {"),
                      struct.replace("namespace a", "namespace a {\nnamespace"), "namespace a {\nstruct S;\n}  // namespace a\n",
                      "namespace a {\nstruct T {\n  struct S {};\n};\n}  // namespace a\n", struct.replace("S {", "T : S {")):
            self.assertEqual(classes_defined_twice(struct, other), [], other)


def unused_functions(header, *others):
    sources = [SourceFile("base/a.h", header)] + [SourceFile(f"base/{i}.cc", text) for i, text in enumerate(others)]
    return [problem.message.split()[0] for problem in unused.check_functions(sources)]


class UnusedFunctions(unittest.TestCase):
    def test_what_is_only_declared_and_defined_is_unused(self):
        header = "struct S {\n  int Count() const { return 1; }\n};\nstd::map<int, int> Make(int n);\nconst S* Find();\nS& Get();\n"
        definitions = "std::map<int, int> Make(int n) { return {}; }\nconst S* Find() { return nullptr; }\nS& Get() {}\n"
        self.assertEqual(unused_functions(header, definitions), ["Count", "Find", "Get", "Make"])
        self.assertEqual(unused_functions("class A { Result<void> Run(); };", "Result<void> A::Run() { return {}; }"), ["Run"])

    def test_what_is_called_anywhere_is_used(self):
        for use in ("x = Make(1);", "return Make(1);", "if (Make(1)) {}", "x = a * Make(1);", "f(a, *Make(1))", "x = a & Make(1);", "p->Make(1);",
                    "this->Make(1)", "s.Make(1)", "n::Make(1);", "x = n::Make(1);", "each(&Make)", "#define M Make", "a < b > Make", "!Make(1)"):
            self.assertEqual(unused_functions("int Make(int n);", "int Make(int n) {}\n" + use), [], use)

    def test_comments_and_texts_are_no_use(self):
        self.assertEqual(unused_functions("int Make();  // Make() makes", 'log("Make()");'), ["Make"])

    def test_what_a_base_or_the_language_calls_is_used(self):
        self.assertEqual(unused_functions("struct S : B { int Run(int n, Map<A> m) const override; void Stop() final; int begin(); };"), [])
        self.assertEqual(unused_functions("struct S { S(int n); explicit S(); ~S(); bool operator()(int) const; };"), [])


def unused_fields(proto, code, path="proto/espalier/v1/a.proto"):
    sources = [SourceFile(path, "message M {\n" + proto + "\n}\n"), SourceFile("base/a.cc", code)]
    return messages(unused.check_fields(sources))


class UnusedFields(unittest.TestCase):
    def test_a_field_is_written_and_read(self):
        self.assertEqual(unused_fields("  int64 steps = 1;", "m.set_steps(1); m.steps();"), [])
        self.assertEqual(unused_fields("  repeated M parts = 1;", "m.add_parts(); for (p : m.parts()) {}"), [])
        self.assertEqual(unused_fields("  optional double x = 1;", "m.set_x(1); m.has_x();"), [])

    def test_a_field_that_nobody_writes_or_reads_is_found(self):
        self.assertEqual(unused_fields("  int64 steps = 1;", "m.steps();"), ["nobody writes steps: reserve its number"])
        self.assertEqual(unused_fields("  map<string, int64> by_name = 1;", "m.mutable_by_name();"), [])
        self.assertEqual(unused_fields("  int64 steps = 1;", "m.set_steps(1);"), ["nobody reads steps: reserve its number"])

    def test_people_write_configuration(self):
        self.assertEqual(unused_fields("  int64 steps = 1;", "m.steps();", "proto/espalier/config/v1/a.proto"), [])

    def test_reserved_numbers_and_enumerators_are_no_fields(self):
        self.assertEqual(unused_fields('  reserved 3;\n  reserved "old";\n  A_VALUE = 1;', ""), [])



if __name__ == "__main__":
    unittest.main()
