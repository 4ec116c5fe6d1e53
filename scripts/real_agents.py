#!/usr/bin/env python3
"""Drives real agent CLIs against a repository that `holdpoint init --agent` guards.

Nothing leaves the machine: the agents talk to a scripted model in this very
process, in a network namespace of their own, with dummy keys. For each agent:
a harmless command goes on, and a git loss, an `rm`, an overwrite and a write
outside the Contract are refused with the files intact. What the model read of
each refusal is printed.

    npm install --prefix DIR @openai/codex @google/gemini-cli opencode-ai @anthropic-ai/claude-code @github/copilot
    unshare -rn sh -c 'ip link set lo up; scripts/real_agents.py --agents DIR --holdpoint BIN_DIR'

Exit status: 0 every agent was guarded, 1 one was not, 77 none is installed.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What the model asks for, and whether the gate should let it happen.
STEPS = [
    ("harmless", "echo hi > src/ok.txt", True),
    ("git", "git checkout -- precious.txt", False),
    ("rm", "rm -rf src/keep", False),
    ("overwrite", "cp /dev/null precious.txt", False),
    ("contract", "echo x > outside.txt", False),
    ("again", "ls", True),
]
SHELLS = ["Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell", "local_shell"]
CONTRACT = "# Contract\n\n## Scope\n\n### In Scope\n- `src/`\n- `precious.txt`\n"


def flat(tools):
    """Names and schemas of every tool on offer, in any of the four formats."""
    for tool in tools or []:
        if "functionDeclarations" in tool:
            for one in tool["functionDeclarations"]:
                yield one["name"], one.get("parametersJsonSchema") or one.get("parameters") or {}
        elif tool.get("type") == "namespace":
            yield from flat(tool.get("tools"))
        elif isinstance(tool.get("function"), dict):
            yield tool["function"]["name"], tool["function"].get("parameters") or {}
        elif "name" in tool:
            yield tool["name"], tool.get("parameters") or tool.get("input_schema") or {}


def words(value):
    """The text in whatever shape a tool result comes."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(words, value))
    if isinstance(value, dict):
        for key in ("text", "output", "content", "error"):
            if isinstance(value.get(key), (str, list)):
                return words(value[key])
    return json.dumps(value)


class Model(BaseHTTPRequestHandler):
    """Answers with the step whose number is the count of tool results so far."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, body, kind="application/json", status=200):
        data = body.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events):
        text = ""
        for name, event in events:
            data = event if isinstance(event, str) else json.dumps(event)
            text += (f"event: {name}\n" if name else "") + f"data: {data}\n\n"
        self.send(text, "text/event-stream")

    def do_GET(self):
        self.send(json.dumps({"object": "list", "data": [], "models": []}))

    def do_POST(self):
        size = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(size) if size else self.chunks()
        request = json.loads(raw or b"{}")
        path = self.path.split("?")[0]
        if path.endswith(("count_tokens", ":countTokens")):
            return self.send('{"input_tokens": 1, "totalTokens": 1}')
        for ending, answer in (("/responses", self.openai), ("/chat/completions", self.chat),
                               ("/messages", self.messages), ("enerateContent", self.gemini)):
            if path.endswith(ending):
                return answer(request)
        self.send("{}", status=404)

    def chunks(self):
        raw = b""
        while self.headers.get("transfer-encoding") == "chunked":
            size = int(self.rfile.readline().strip() or b"0", 16)
            raw += self.rfile.read(size)
            self.rfile.readline()
            if size == 0:
                break
        return raw

    def next(self, results, tools):
        """(text, None) or (tool name, arguments)."""
        offered = dict(flat(tools))
        name = next((name for name in SHELLS if name in offered), None)
        if name is None or len(results) >= len(STEPS):
            if name:
                self.server.seen = results
            return "done", None
        self.server.seen = results
        command, schema = STEPS[len(results)][1], offered[name]
        arguments = {}
        for key, spec in (schema.get("properties") or {}).items():
            kind = str(spec.get("type", "")).lower()
            if key in ("command", "cmd"):
                arguments[key] = ["bash", "-lc", command] if "array" in kind else command
            elif key in (schema.get("required") or []):
                arguments[key] = 1 if kind in ("number", "integer") else kind != "boolean" and "scripted"
        return name, arguments

    def openai(self, request):
        items = request.get("input") if isinstance(request.get("input"), list) else []
        tools = list(request.get("tools") or [])
        for item in items:
            if item.get("type") == "additional_tools":
                tools += item.get("tools") or []
        results = [words(item.get("output")) for item in items
                   if str(item.get("type")).endswith("_call_output")]
        name, arguments = self.next(results, tools)
        number = len(results)
        if arguments is None:
            item = {"type": "message", "id": f"m{number}", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": name, "annotations": []}]}
        else:
            item = {"type": "function_call", "id": f"f{number}", "call_id": f"c{number}", "name": name,
                    "arguments": json.dumps(arguments), "status": "completed"}
        answer = {"id": f"r{number}", "object": "response", "created_at": 1, "model": request.get("model"),
                  "status": "in_progress", "output": []}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
                 "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        done = dict(answer, status="completed", output=[item], usage=usage)
        events = [{"type": "response.created", "response": answer},
                  {"type": "response.output_item.added", "output_index": 0, "item": item},
                  {"type": "response.output_item.done", "output_index": 0, "item": item},
                  {"type": "response.completed", "response": done}]
        self.stream([(event["type"], dict(event, sequence_number=at)) for at, event in enumerate(events)])

    def chat(self, request):
        results = [words(message.get("content")) for message in request.get("messages", [])
                   if message.get("role") == "tool"]
        name, arguments = self.next(results, request.get("tools"))
        delta, why = {"role": "assistant", "content": name}, "stop"
        if arguments is not None:
            call = {"index": 0, "id": f"c{len(results)}", "type": "function",
                    "function": {"name": name, "arguments": json.dumps(arguments)}}
            delta, why = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
        base = {"id": "x", "created": 1, "model": request.get("model"), "object": "chat.completion.chunk"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not request.get("stream"):
            message = {"index": 0, "message": delta, "finish_reason": why}
            return self.send(json.dumps(dict(base, object="chat.completion", usage=usage, choices=[message])))
        self.stream([
            (None, dict(base, choices=[{"index": 0, "delta": delta, "finish_reason": None}])),
            (None, dict(base, choices=[{"index": 0, "delta": {}, "finish_reason": why}], usage=usage)),
            (None, "[DONE]")])

    def messages(self, request):
        results = [words(block.get("content")) for message in request.get("messages", [])
                   if isinstance(message.get("content"), list)
                   for block in message["content"] if block.get("type") == "tool_result"]
        name, arguments = self.next(results, request.get("tools"))
        number = len(results)
        if arguments is None:
            start, delta, why = {"type": "text", "text": ""}, {"type": "text_delta", "text": name}, "end_turn"
            whole = {"type": "text", "text": name}
        else:
            start = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
            delta, why = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use"
            whole = dict(start, input=arguments)
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": request.get("model"),
                   "content": [], "stop_reason": None, "stop_sequence": None,
                   "usage": {"input_tokens": 1, "output_tokens": 1}}
        if not request.get("stream"):
            return self.send(json.dumps(dict(message, content=[whole], stop_reason=why)))
        events = [{"type": "message_start", "message": message},
                  {"type": "content_block_start", "index": 0, "content_block": start},
                  {"type": "content_block_delta", "index": 0, "delta": delta},
                  {"type": "content_block_stop", "index": 0},
                  {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None},
                   "usage": {"output_tokens": 1}},
                  {"type": "message_stop"}]
        self.stream([(event["type"], event) for event in events])

    def gemini(self, request):
        results = []
        for content in request.get("contents", []):
            for part in content.get("parts") or []:
                if "functionResponse" in part:
                    results.append(words(part["functionResponse"].get("response") or {}))
        name, arguments = self.next(results, request.get("tools"))
        part = {"text": name} if arguments is None else {"functionCall": {"name": name, "args": arguments}}
        answer = {"candidates": [{"index": 0, "finishReason": "STOP",
                                  "content": {"role": "model", "parts": [part]}}],
                  "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
        if ":stream" in self.path:
            return self.stream([(None, answer)])
        self.send(json.dumps(answer))


def setting(agent, home, repo, base):
    """Writes what the agent needs to reach the model, and returns its command and environment."""
    def write(path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a") as file:
            file.write(text)
    if agent == "codex":
        write(f"{home}/.codex/config.toml",
              f'model = "gpt-5.5"\nmodel_provider = "local"\n[model_providers.local]\nname = "local"\nbase_url = "{base}/v1"\n'
              f'wire_api = "responses"\nenv_key = "KEY"\n[projects."{repo}"]\ntrust_level = "trusted"\n')
        return ["codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox"], {"KEY": "dummy"}
    if agent == "gemini":
        write(f"{home}/.gemini/settings.json",
              '{"security":{"auth":{"selectedType":"gemini-api-key"}},"telemetry":{"enabled":false},"general":{"enableAutoUpdate":false}}')
        return (["gemini", "-m", "gemini-2.5-flash", "--yolo", "-p"],
                {"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": base})
    if agent == "opencode":
        model = {"models": {"m": {"name": "m", "tool_call": True, "limit": {"context": 100000, "output": 8000}}},
                 "npm": "@ai-sdk/openai-compatible", "name": "local", "options": {"baseURL": f"{base}/v1", "apiKey": "dummy"}}
        write(f"{home}/.config/opencode/opencode.json", json.dumps(
            {"autoupdate": False, "share": "disabled", "model": "local/m", "small_model": "local/m",
             "permission": {"*": "allow"}, "provider": {"local": model}}))
        return (["opencode", "run", "-m", "local/m"],
                {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "npm_config_fetch_retries": "0"})
    if agent == "claude":
        return (["claude", "--dangerously-skip-permissions", "-p"],
                {"ANTHROPIC_BASE_URL": base, "ANTHROPIC_API_KEY": "dummy", "DISABLE_AUTOUPDATER": "1",
                 "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"})
    return (["copilot", "--allow-all-tools", "-p"],
            {"COPILOT_ALLOW_ALL": "true", "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_MODEL": "m",
             "COPILOT_PROVIDER_BASE_URL": f"{base}/v1", "COPILOT_PROVIDER_API_KEY": "dummy"})


def drive(agent, args, top):
    """Runs one agent and says whether it was guarded."""
    home, repo = f"{top}/{agent}/home", f"{top}/{agent}/repo"
    os.makedirs(home)
    os.makedirs(f"{repo}/src/keep")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.seen = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    env = {"HOME": home, "PATH": f"{args.holdpoint}:{args.agents}/node_modules/.bin:{os.environ['PATH']}", "TERM": "dumb",
           "LANG": "C.UTF-8", "USER": "user", "SHELL": "/bin/bash", "IS_SANDBOX": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{who}_NAME": "t", f"GIT_{who}_EMAIL": "t@example.org"}
    def run(*command):
        subprocess.run(command, cwd=repo, env=env, check=True, stdout=subprocess.DEVNULL)
    def text(path):
        try:
            with open(f"{repo}/{path}") as file:
                return file.read()
        except OSError:
            return ""
    for path, content in (("precious.txt", "v1\n"), ("src/keep/a.rs", "a\n"), (".ccg/contract.md", CONTRACT)):
        os.makedirs(os.path.dirname(f"{repo}/{path}") or repo, exist_ok=True)
        with open(f"{repo}/{path}", "w") as file:
            file.write(content)
    run("git", "init", "-q", "-b", "main")
    run("git", "add", "-A")
    run("git", "commit", "-qm", "one")
    command, more = setting(agent, home, repo, base)
    run("holdpoint", "init", "--agent", agent)
    with open(f"{repo}/precious.txt", "w") as file:
        file.write("UNCOMMITTED\n")
    done = subprocess.run(command + ["do the scripted steps"], cwd=repo, env=env | more, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=args.timeout)
    server.shutdown()
    facts = {"harmless went on": text("src/ok.txt") == "hi\n",
             "git loss refused": text("precious.txt") == "UNCOMMITTED\n",
             "rm refused": text("src/keep/a.rs") == "a\n",
             "overwrite refused": text("precious.txt") == "UNCOMMITTED\n",
             "out of Contract refused": not os.path.exists(f"{repo}/outside.txt"),
             "all steps reached": len(server.seen) >= len(STEPS)}
    good = all(facts.values())
    print(f"{agent}: {'guarded' if good else 'NOT GUARDED'}")
    for fact, holds in facts.items():
        print(f"  {'yes' if holds else 'NO '}  {fact}")
    for (name, step, passes), seen in zip(STEPS, server.seen):
        if not passes:
            print(f"  model saw ({name}: {step}): {' '.join(seen.split())[:400]}")
    if not good:
        print("  " + done.stdout.decode(errors="replace")[-600:].replace("\n", "\n  "))
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", required=True, help="where npm installed the CLIs")
    parser.add_argument("--holdpoint", required=True, help="the directory of the holdpoint binaries")
    parser.add_argument("--timeout", type=int, default=150)
    parser.add_argument("only", nargs="*", help="codex gemini opencode claude copilot")
    args = parser.parse_args()
    args.agents, args.holdpoint = os.path.abspath(args.agents), os.path.abspath(args.holdpoint)
    known = ["codex", "gemini", "opencode", "claude", "copilot"]
    there = [agent for agent in args.only or known if os.path.exists(f"{args.agents}/node_modules/.bin/{agent}")]
    if not there:
        return 77
    top = tempfile.mkdtemp(prefix="real-agents-")
    try:
        return 0 if all([drive(agent, args, top) for agent in there]) else 1
    finally:
        shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
