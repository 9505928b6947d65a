"""A client made with the official Python SDK. It does what an agent does, tells what it got
as one JSON object on standard output, and judges nothing: that is the caller's part.

It takes one argument, JSON: `mode` ("auto" or "legacy"), either `url` or `command` (a list),
`complaints` (a file for what the server says on standard error), `spare` (a module) and
`place` (where that module makes a new tool).
"""

import json
import os
import shutil
import sys
import urllib.request
import warnings

import anyio
from mcp import Client, MCPDeprecationWarning, MCPError, StdioServerParameters, stdio_client

# Longer than anything here takes on the slowest machine.
LONG = 120


async def until(holds):
    """Waits for a condition, and gives what it was."""
    with anyio.fail_after(LONG):
        while not (found := await holds()):
            await anyio.sleep(0.01)
    return found


def plain(result):
    """A result as it went over the line."""
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


class Told:
    """What the server says without being asked."""

    def __init__(self):
        self.messages = []
        self.changed = anyio.Event()

    async def log(self, params):
        self.messages.append(params.data)

    async def notice(self, message):
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self.changed.set()


class Run:
    """Everything that is asked of one connection."""

    def __init__(self, given, client, told):
        self.given = given
        self.client = client
        self.told = told

    async def names(self):
        listed = await self.client.list_tools(cache_mode="bypass")
        return [tool.name for tool in listed.tools]

    async def call(self, tool, arguments):
        return plain(await self.client.call_tool(tool, arguments))

    async def all(self):
        client = self.client
        if self.given["mode"] == "legacy":
            await client.set_logging_level("info")

        async def complete():
            names = await self.names()
            return "test_simple_text" in names and "skill_wait" in names and names

        got = {
            "protocol": client.protocol_version,
            "server": client.server_info.name,
            "tools": await until(complete),
            "text": await self.call("test_simple_text", {}),
            "structure": await self.call("trivial", {"text": "abc", "numbers": [2, 40]}),
            "image": await self.call("test_image_content", {}),
            "error": await self.call("test_error_handling", {}),
            "mistake": await self.call("trivial", {"text": 7}),
            "unknown": await self.unknown(),
            "progress": await self.progress(),
            "messages": await self.messages(),
            "cancelled": await self.cancel(),
            **await self.read(),
            "changed": await self.change(),
        }
        got["after"] = await self.call("spare", {"still": "here"})
        return got

    async def read(self):
        client = self.client
        template = "test://template/7/data"
        arguments = {"arg1": "one", "arg2": "two"}
        resources = await client.list_resources()
        templates = await client.list_resource_templates()
        prompts = await client.list_prompts()
        return {
            "resources": [str(resource.uri) for resource in resources.resources],
            "templates": [one.uri_template for one in templates.resource_templates],
            "resource": plain(await client.read_resource(template)),
            "prompts": [prompt.name for prompt in prompts.prompts],
            "prompt": plain(await client.get_prompt("test_prompt_with_arguments", arguments)),
        }

    async def unknown(self):
        try:
            return await self.call("test_simple_txt", {})
        except MCPError as error:
            return {"code": error.error.code, "message": error.error.message}

    async def progress(self):
        heard = []

        async def hear(progress, total, message):
            heard.append([progress, total])

        await self.client.call_tool("test_tool_with_progress", {}, progress_callback=hear)
        return heard

    async def messages(self):
        self.told.messages.clear()
        await self.client.call_tool("test_tool_with_logging", {})
        return list(self.told.messages)

    async def cancel(self):
        """Cancels a call that would never end, and gives what the host says of it."""
        async with anyio.create_task_group() as group:
            group.start_soon(self.client.call_tool, "skill_wait", {})

            async def waiting():
                return "waiting" in self.told.messages

            await until(waiting)
            group.cancel_scope.cancel()
        return await until(self.end_of_call)

    async def end_of_call(self):
        if "url" not in self.given:
            with open(self.given["complaints"]) as file:
                lines = [line for line in file if "skill_wait" in line]
            return lines and lines[0]
        address = self.given["url"].replace("/mcp", "/metrics")
        text = await anyio.to_thread.run_sync(lambda: urllib.request.urlopen(address).read())
        lines = text.decode().splitlines()
        ended = 'prx_host_calls_total{tool="skill_wait",outcome="cancelled"} 1'
        idle = 'prx_host_running_calls{tool="skill_wait"} 0'
        return ended in lines and idle in lines and ended

    async def change(self):
        """Lays a module among the others and gives the tools that are new once the server
        has told of a change."""
        before = await self.names()

        def lay():
            unfinished = self.given["place"] + ".tmp"
            shutil.copy(self.given["spare"], unfinished)
            os.rename(unfinished, self.given["place"])

        async def new():
            return [name for name in await self.names() if name not in before]

        with anyio.fail_after(LONG):
            if self.given["mode"] == "legacy":
                self.told.changed = anyio.Event()
                lay()
                await self.told.changed.wait()
            else:
                async with self.client.listen(tools_list_changed=True) as heard:
                    lay()
                    await anext(aiter(heard))
        # More than one change may be told of before all is loaded.
        return await until(new)


async def main(given):
    told = Told()
    with open(given["complaints"], "w") as complaints:
        target = given.get("url")
        if target is None:
            command, *args = given["command"]
            env = {"RUST_LOG": "prx_host::calls=info", "HOME": given["home"]}
            params = StdioServerParameters(command=command, args=args, env=env)
            target = stdio_client(params, errlog=complaints)
        client = Client(
            target,
            mode=given["mode"],
            log_level=None if given["mode"] == "legacy" else "info",
            logging_callback=told.log,
            message_handler=told.notice,
        )
        async with client:
            print(json.dumps(await Run(given, client, told).all()))


warnings.simplefilter("ignore", MCPDeprecationWarning)
anyio.run(main, json.loads(sys.argv[1]))
