#!/usr/bin/env python3
"""Drives real agent CLIs behind `holdpoint-run`, with a scripted model in this process.

For each agent: an edit inside the Contract is kept, one outside it and a
destructive command are held and put back, a hang is ended at the maximum, a
service that answers 429 at first is tried again, and an agent that cannot go
on is replaced by its fallback. It is called as `real_agents.py` is.

Exit status: 0 all went so, 1 something did not, 77 no agent is installed.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from http.server import ThreadingHTTPServer

import real_agents

SCENES = {
    # name: (steps of the model, options of the wrapper, expected status)
    "inside": (["echo hi > src/ok.txt"], [], 0),
    "outside": (["echo x > outside.txt"], [], 1),
    "destructive": (["git checkout -- precious.txt; rm src/keep/a.rs"], [], 1),
    "hang": ([], ["--timeout", "8", "--max", "20"], 124),
    "limited": (["echo hi > src/ok.txt"], ["--retries", "2", "--max", "60"], 0),
    "crash": (["echo hi > src/ok.txt"], ["--retries", "0"], 0),
    "fallback": (["echo hi > src/ok.txt"], ["--retries", "0"], 0),
}


class Model(real_agents.Model):
    """The scripted model, which refuses with 429 until the agent was started twice."""

    def do_POST(self):
        if self.server.hangs:
            # Some agents put a command that takes long into the background and go on.
            time.sleep(60)
            return
        starts = self.server.starts
        if self.server.limited and sum(1 for _ in open(starts)) < 2:
            size = int(self.headers.get("content-length") or 0)
            self.rfile.read(size) if size else self.chunks()
            body = json.dumps({"type": "error", "error": {"type": "rate_limit_error", "code": 429, "message": "Too many requests"}})
            data = body.encode()
            self.send_response(429)
            for name, value in (("content-type", "application/json"), ("content-length", str(len(data))),
                                ("x-should-retry", "false")):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
            return
        super().do_POST()


def play(agent, scene, args, top):
    steps, options, expected = SCENES[scene]
    real_agents.STEPS[:] = [(scene, step, True) for step in steps]
    base_dir = f"{top}/{agent}-{scene}"
    home, repo, starts = f"{base_dir}/home", f"{base_dir}/repo", f"{base_dir}/starts"
    os.makedirs(home)
    os.makedirs(f"{repo}/src/keep")
    open(starts, "w").close()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.seen, server.starts, server.limited = [], starts, scene == "limited"
    server.hangs, server.daemon_threads = scene == "hang", True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    env = {"HOME": home, "PATH": f"{args.holdpoint}:{args.agents}/node_modules/.bin:{os.environ['PATH']}", "TERM": "dumb",
           "LANG": "C.UTF-8", "USER": "user", "SHELL": "/bin/bash", "IS_SANDBOX": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{who}_NAME": "t", f"GIT_{who}_EMAIL": "t@example.org"}
    for path, content in (("precious.txt", "v1\n"), ("src/keep/a.rs", "a\n"), (".ccg/contract.md", real_agents.CONTRACT)):
        os.makedirs(os.path.dirname(f"{repo}/{path}") or repo, exist_ok=True)
        with open(f"{repo}/{path}", "w") as file:
            file.write(content)
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run(["git", *command], cwd=repo, env=env, check=True)
    with open(f"{repo}/precious.txt", "w") as file:
        file.write("UNCOMMITTED\n")
    command, more = real_agents.setting(agent, home, repo, base)
    words = " ".join(command) + " 'do the scripted step'"
    wrapped = ["sh", "-c", f"echo x >> {starts}; exec {words}"]
    if scene == "crash":
        options = options + ["--fallback", f"sh -c \"{words}\""]
        wrapped = ["sh", "-c", "kill -SEGV $$"]
    if scene == "fallback":
        options = options + ["--fallback", f"sh -c \"{words}\""]
        wrapped = ["sh", "-c", "echo 'insufficient_quota' >&2; exit 1"]
    began = time.time()
    done = subprocess.run(["holdpoint-run", "--json", "--agent", agent, *options, "--", *wrapped], cwd=repo, env=env | more,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=args.timeout)
    took = time.time() - began
    server.shutdown()
    try:
        report = json.loads(done.stdout.decode(errors="replace").strip().splitlines()[-1])
    except (ValueError, IndexError):
        report = {}
    def text(path):
        try:
            with open(f"{repo}/{path}") as file:
                return file.read()
        except OSError:
            return ""
    whole = text("precious.txt") == "UNCOMMITTED\n" and text("src/keep/a.rs") == "a\n" and not os.path.exists(f"{repo}/outside.txt")
    wrote = text("src/ok.txt") == "hi\n"
    good = done.returncode == expected and whole and (wrote or scene not in ("inside", "limited", "crash", "fallback"))
    attempts = [f"{a['agent']}:{(a.get('outcome') or {}).get('kind', 'ok')}" for a in report.get("attempts", [])]
    print(f"{agent:9} {scene:12} {'as it should' if good else 'NOT SO'}  status {done.returncode} (expected {expected}), {took:.0f} s, "
          f"kept {report.get('kept')}, held {report.get('held')}, attempts {attempts}, session {report.get('sessions')}", flush=True)
    if not good:
        print("  " + done.stderr.decode(errors="replace")[-900:].replace("\n", "\n  "), flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", required=True, help="where npm installed the CLIs")
    parser.add_argument("--holdpoint", required=True, help="the directory of the holdpoint binaries")
    parser.add_argument("--timeout", type=int, default=200)
    parser.add_argument("--scene", action="append", choices=list(SCENES))
    parser.add_argument("only", nargs="*", help="codex gemini opencode claude copilot")
    args = parser.parse_args()
    args.agents, args.holdpoint = os.path.abspath(args.agents), os.path.abspath(args.holdpoint)
    known = ["codex", "gemini", "opencode", "claude", "copilot"]
    there = [agent for agent in args.only or known if os.path.exists(f"{args.agents}/node_modules/.bin/{agent}")]
    if not there:
        return 77
    top = tempfile.mkdtemp(prefix="wrapped-agents-")
    try:
        results = [play(agent, scene, args, top) for scene in args.scene or SCENES for agent in there]
        return 0 if all(results) else 1
    finally:
        shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
