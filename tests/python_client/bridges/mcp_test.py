"""The MCP server, asked by MCP's own client over standard input and output."""

import asyncio
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import espalier as es
from mcp import Client, StdioServerParameters, stdio_client
from service import Service

BIN = pathlib.Path(os.environ["ESPALIER_BIN"])
PACKAGE = pathlib.Path(es.__file__).parents[1]
STUDY = """
study: by an agent
trainer: mlp
data: digits
step: 20 updates
hyper_parameters:
  lr: [0.1, "MultiStep(0.1, [4], 0.1)", 1e30]
metric: {name: test_acc, goal: max}
tuner: {grid: {steps: 8}}
"""
ENDLESS = """
study: endless
trainer: synthetic
hyper_parameters: {lr: [0.1, 0.2], step_seconds: 3600}
metric: {name: test_acc, goal: max}
tuner: {grid: {steps: 8}}
"""


class Agent:
    """Calls tools of a server of its own."""

    def __init__(self, client):
        self.client = client

    async def told(self, tool, **arguments):
        answer = await self.client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        told = answer.structured_content
        return told["result"] if set(told) == {"result"} else told

    async def refused(self, tool, **arguments):
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error, answer.structured_content
        return answer.content[0].text


@contextlib.asynccontextmanager
async def agent_of(*options, **environment):
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "ESPALIER_PROGRAM": str(BIN / "espalier"), **environment}
    server = StdioServerParameters(command=sys.executable, args=["-m", "espalier.mcp", *options], env=environment)
    async with Client(stdio_client(server)) as client:
        yield Agent(client)


class McpTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = cls.enterClassContext(Service())

    def asked(self, conversation):
        async def whole():
            async with agent_of("--data", str(self.service.data)) as agent:
                await conversation(agent)

        asyncio.run(whole())

    def test_an_agent_forecasts_a_study_starts_it_and_reads_what_it_came_to(self):
        async def conversation(agent):
            mlp = next(each for each in await agent.told("trainers") if each["trainer"] == "mlp")
            self.assertEqual(mlp["hyper_parameters"]["lr"], {"type": "float", "default": 0.1, "fixed_at_step_0": False})
            before = await agent.told("forecast", study_file=STUDY)
            self.assertEqual((before["trials"], before["total_steps"], before["unique_steps"], before["trained_steps"]), (3, 24, 20, 0))

            started = await agent.told("submit", study_file=STUDY)
            self.assertEqual(started["name"], "by an agent")
            results = await agent.told("results", study=str(started["id"]), wait_seconds=300)
            self.assertEqual((results["state"], results["trials"]["done"], results["steps"]["unique"]), ("finished", 3, 20))
            *measured, diverged = results["listed"]
            self.assertEqual([each["metrics"]["test_acc"] for each in measured], sorted((each["metrics"]["test_acc"] for each in measured), reverse=True))
            self.assertEqual((measured[0]["id"], measured[0]["metrics"]["test_acc"]), (results["best"]["trial"], results["best"]["value"]))
            self.assertEqual((diverged["hyper_parameters"]["lr"], diverged["metrics"]["test_acc"]), ("1e+30", None))

            trial = await agent.told("trial", trial=measured[0]["id"])
            self.assertEqual(trial["curve"], [{"step": 8, "metrics": measured[0]["metrics"]}])
            pieces = (await agent.told("trained", study="by an agent"))["pieces"]
            root = next(each for each in pieces if each["trials"] == 2)
            branch = next(each for each in pieces if each["parent"] == root["id"])
            self.assertEqual((root["start"], root["trained"], branch["start"], branch["trained"]), (0, [[0, 8]], 4, [[4, 8]]))
            self.assertEqual((await agent.told("trained", study="by an agent", count=1))["more"], len(pieces) - 1)
            again = await agent.told("forecast", study_file=STUDY.replace(", 1e30", ""))
            self.assertEqual((again["trained_steps"], again["remaining_steps"]), (12, 0))
            self.assertEqual([each["id"] for each in await agent.told("studies", count=1)], [started["id"]])

        self.asked(conversation)

    def test_a_study_that_an_agent_has_started_goes_on_without_it_until_it_is_cancelled(self):
        file = self.service.write("endless.yaml", ENDLESS)

        async def starts(agent):
            started = await agent.told("submit", study_path=str(file))
            self.assertEqual(await agent.told("submit", study_path=str(file)), started)  # the running one

        async def cancels(agent):
            self.assertEqual((await agent.told("results", study="endless"))["state"], "running")
            self.assertEqual((await agent.told("cancel", study="endless"))["state"], "finished")
            self.assertEqual((await agent.told("results", study="endless"))["trials"], {"cancelled": 2})

        self.asked(starts)
        self.asked(cancels)

    def test_errors_are_told_with_what_to_mend(self):
        async def conversation(agent):
            for arguments, said in [
                ({"study_file": STUDY.replace("lr:", "rl:")}, r"INVALID_ARGUMENT: study.yaml:7: hyper_parameters.rl\[0\]: mlp has no hyper-parameter rl; did"),
                ({"study_file": "study: [", "study_path": None}, r"INVALID_ARGUMENT: study.yaml:1: "),
                ({"study_path": "/nowhere/study.yaml"}, "INVALID_ARGUMENT: /nowhere/study.yaml"),
                ({}, "study_file: expected either the file itself, or study_path"),
                ({"study_file": STUDY, "study_path": "/nowhere"}, "study_file: expected either the file itself, or study_path"),
            ]:
                for tool in ("forecast", "submit"):
                    self.assertRegex(await agent.refused(tool, **arguments), said)
            self.assertRegex(await agent.refused("results", study="none"), "NOT_FOUND: study: no study named 'none'; see: espalier study list")
            self.assertRegex(await agent.refused("trial", trial=999), "NOT_FOUND: .*999")
            self.assertRegex(await agent.refused("results", study="none", wait_seconds=1e6), "wait_seconds\n.*less than or equal to 300")

        self.asked(conversation)

    def test_tools_say_what_they_take_and_whether_they_change_anything(self):
        async def conversation(agent):
            tools = {each.name: each for each in (await agent.client.list_tools()).tools}
            self.assertEqual({name for name, each in tools.items() if not each.annotations.read_only_hint}, {"submit", "cancel"})
            self.assertTrue(tools["cancel"].annotations.destructive_hint)
            for tool in tools.values():
                self.assertGreater(len(tool.description), 100, tool.name)
                self.assertNotIn("  ", tool.description, tool.name)
                for name, said in tool.input_schema["properties"].items():
                    self.assertTrue(said.get("description"), f"{tool.name}: {name}")
            self.assertIn("- MultiStep(init, milestones, gamma): `init`, times `gamma` at each milestone", agent.client.instructions)

        self.asked(conversation)

    def test_the_study_file_of_its_instructions_is_one(self):
        async def conversation(agent):
            example = re.search(r"^study: .*?\n\n", agent.client.instructions, re.MULTILINE | re.DOTALL)[0]
            self.assertEqual((await agent.told("forecast", study_file=example))["unique_steps"], 120)
            for tuner in re.search(r"or sha, asha: (\{.*?\}); (random: \{.*?\})", example).groups():
                tuner = tuner if tuner.startswith("random") else f"asha: {tuner}"
                file = re.sub(r"tuner: .*", f"tuner: {{{tuner}}}", example).replace("[0.1,", '["loguniform(0.01, 1)",' if "random" in tuner else "[0.1,")
                self.assertGreaterEqual((await agent.told("forecast", study_file=file))["trials"], 2)

        self.asked(conversation)

    def test_a_service_may_be_started_after_its_agent(self):
        async def conversation():
            with tempfile.TemporaryDirectory(prefix="espalier test ") as folder:
                service = Service(data=f"{folder}/data")
                async with agent_of(ESPALIER_DATA=f"{folder}/data") as agent:
                    self.assertRegex(await agent.refused("studies"), "UNAVAILABLE: .*start one with: espalier up")
                    with service:
                        self.assertEqual(await agent.told("studies"), [])

        asyncio.run(conversation())

    def test_without_mcp_it_says_what_to_install(self):
        program = "import runpy, sys; sys.modules['mcp'] = None; sys.argv[1:] = []; runpy.run_module('espalier.mcp', run_name='__main__')"
        ended = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(PACKAGE)}, capture_output=True, text=True)
        self.assertEqual((ended.returncode, ended.stderr), (1, "espalier: python -m espalier.mcp needs mcp: pip install 'espalier-hpo[mcp]'\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
