#!/usr/bin/env python3
"""Drives two real agent CLIs side by side through `holdpoint collab`, and says what became of each case.

As in real_agents.py nothing leaves the machine: codex and gemini talk to
scripted models in this very process, each to one of its own, which answers,
hangs, or refuses the key. After each case no process of the run may be left.

    npm install --prefix DIR @openai/codex @google/gemini-cli
    unshare -rn sh -c 'ip link set lo up; scripts/real_collab.py --agents DIR --holdpoint BIN_DIR'

Exit status: 0 every case ended as it should, 1 one did not, 77 an agent is not installed.
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

PLAIN = {
    "codex": "sh -c 'exec codex exec \"$0\" 2>/dev/null' {task}",
    "gemini": "gemini -m gemini-2.5-flash -p {task}",
}

# name, role, codex, gemini, plain output of, more options, (state, level, missing, code, exit status)
CASES = [
    ("both answer", "analyzer", "talk", "talk", "", [], ("SUCCESS", None, [], None, 0)),
    ("gemini hangs, not its dimension", "architect", "talk", "hang", "", ["--accept-degraded"],
     ("SUCCESS", "ACCEPTABLE", ["frontend"], "E004", 0)),
    ("codex hangs, its dimension", "architect", "hang", "talk", "", [],
     ("FAILED", "UNACCEPTABLE", ["backend"], "E004", 124)),
    ("gemini prints no session id", "architect", "talk", "talk", "gemini", [],
     ("DEGRADED", "ACCEPTABLE", ["frontend"], "E006", 1)),
    ("codex prints no session id", "reviewer", "talk", "talk", "codex", ["--accept-degraded"],
     ("SUCCESS", "ACCEPTABLE", ["backend"], "E006", 0)),
    ("neither prints a session id", "analyzer", "talk", "talk", "codex gemini", [],
     ("FAILED", None, ["backend", "frontend"], "E006", 3)),
    ("neither prints a session id, lite", "analyzer", "talk", "talk", "codex gemini", ["--lite"],
     ("SUCCESS", None, [], None, 0)),
    ("gemini's key is refused", "architect", "talk", "refuse", "", ["--accept-degraded"],
     ("SUCCESS", "ACCEPTABLE", ["frontend"], None, 0)),
    ("both keys are refused", "analyzer", "refuse", "refuse", "", [],
     ("FAILED", None, ["backend", "frontend"], None, 3)),
    ("both hang", "analyzer", "hang", "hang", "", [],
     ("FAILED", None, ["backend", "frontend"], "E005", 124)),
]


class Model(real_agents.Model):
    """Says one sentence, says nothing ever, or refuses the key."""

    def do_POST(self):
        if self.server.manner == "hang":
            self.server.over.wait()
            return
        if self.server.manner == "refuse":
            size = int(self.headers.get("content-length") or 0)
            _ = self.rfile.read(size) if size else self.chunks()
            error = {"code": 401, "status": "UNAUTHENTICATED", "type": "invalid_request_error",
                     "message": "API key not valid. Please pass a valid API key."}
            return self.send(json.dumps({"error": error}), status=401)
        super().do_POST()

    def next(self, results, tools):
        return "looked at it, all is well", None


def serve(manner):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    server.manner, server.over, server.seen = manner, threading.Event(), []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def left(mark):
    """Processes that still carry the mark of the case."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark.encode() in file.read():
                    with open(f"/proc/{pid}/cmdline", "rb") as line:
                        found.append(line.read().replace(b"\0", b" ").decode(errors="replace")[:80])
        except OSError:
            pass
    return found


def run(case, args, top):
    name, role, codex, gemini, plain, more, expected = case
    place = f"{top}/{name.replace(' ', '-')}"
    home, repo = f"{place}/home", f"{place}/repo"
    os.makedirs(home)
    os.makedirs(repo)
    mark = f"HOLDPOINT_CASE={os.path.basename(top)}-{name}"
    env = {"HOME": home, "PATH": f"{args.holdpoint}:{args.agents}/node_modules/.bin:{os.environ['PATH']}", "TERM": "dumb",
           "LANG": "C.UTF-8", "USER": "user", "SHELL": "/bin/bash", "IS_SANDBOX": "1",
           # Without it the CLI first asks the model which model to ask.
           "HOLDPOINT_CASE": mark.split("=", 1)[1], "GEMINI_MODEL": "gemini-2.5-flash"}
    servers = {"codex": serve(codex), "gemini": serve(gemini)}
    for agent, server in servers.items():
        _, extra = real_agents.setting(agent, home, repo, f"http://127.0.0.1:{server.server_address[1]}")
        env |= extra
    for who in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{who}_NAME": "t", f"GIT_{who}_EMAIL": "t@example.org"}
    for command in (["git", "init", "-q", "-b", "main"], ["git", "commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run(command, cwd=repo, env=env, check=True)
    hangs = "hang" in (codex, gemini)
    command = ["holdpoint", "collab", "--json", "--role", role, "--task", "look at it",
               "--timeout", str(args.hang if hangs else args.timeout), *more]
    for agent in plain.split():
        command += [f"--{agent}-command", PLAIN[agent]]
    begun = time.monotonic()
    done = subprocess.run(command, cwd=repo, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=args.timeout / 500)
    took = time.monotonic() - begun
    for server in servers.values():
        server.over.set()
        server.shutdown()
    try:
        snapshot = json.loads(done.stdout)
    except ValueError:
        print(f"{name}: NO ANSWER (exit {done.returncode})\n{done.stderr.decode()[-800:]}")
        return False
    found = (snapshot["state"], snapshot["degraded_level"], snapshot["missing_dimensions"],
             snapshot["error_code"], done.returncode)
    stay = left(mark)
    good = found == expected and not stay
    print(f"{'ok ' if good else 'BAD'} {name}: {found[0]} {found[1] or '-'} {','.join(found[2]) or '-'} "
          f"{found[3] or '-'} exit {found[4]}, {took:.0f} s, retries {snapshot['retries']['codex']}/{snapshot['retries']['gemini']}, "
          f"sessions {'yes' if snapshot['codex']['session_id'] else 'no'}/{'yes' if snapshot['gemini']['session_id'] else 'no'}, "
          f"left {len(stay)}")
    print(f"      {snapshot['degraded_reason'] or snapshot['failure_reason'] or ''}"[:200])
    if not good:
        print(f"      expected {expected}; left behind: {stay}")
        print("      " + done.stderr.decode()[-800:].replace("\n", "\n      "))
        for agent, output in snapshot.get("outputs", {}).items():
            print(f"      {agent} said: {output[-300:]!r}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", required=True, help="where npm installed the CLIs")
    parser.add_argument("--holdpoint", required=True, help="the directory of the holdpoint binaries")
    parser.add_argument("--timeout", type=int, default=240_000, help="milliseconds for a case in which nobody hangs")
    parser.add_argument("--hang", type=int, default=60_000, help="milliseconds for a case in which one does")
    parser.add_argument("only", nargs="*", help="words that a case's name holds")
    args = parser.parse_args()
    args.agents, args.holdpoint = os.path.abspath(args.agents), os.path.abspath(args.holdpoint)
    if not all(os.path.exists(f"{args.agents}/node_modules/.bin/{agent}") for agent in ("codex", "gemini")):
        return 77
    top = tempfile.mkdtemp(prefix="real-collab-")
    cases = [case for case in CASES if all(word in case[0] for word in args.only)]
    try:
        return 0 if all([run(case, args, top) for case in cases]) else 1
    finally:
        shutil.rmtree(top, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
