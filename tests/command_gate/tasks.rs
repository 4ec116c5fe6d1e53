//! What the files of task runners say is run.

use super::level;
use crate::support::Sandbox;

const FILES: &[(&str, &str)] = &[
    ("src/a.py", "a\n"),
    ("docs/b.md", "b\n"),
    (
        "Taskfile.yml",
        "version: '3'\ntasks:\n  wipe:\n    cmds:\n      - rm -rf src\n  all:\n    deps: [wipe]\n  ok:\n    cmds: [echo ok]\n",
    ),
    (
        "tox.ini",
        "[testenv]\ncommands = pytest\n[testenv:wipe]\ncommands = rm -rf src\n",
    ),
    (
        "Rakefile",
        "task :wipe do\n  sh 'rm -rf src'\nend\ntask :ok do\n  puts 'ok'\nend\n",
    ),
    (
        "justfile",
        "wipe:\n    rm -rf src\nall: wipe\nok:\n    echo ok\n",
    ),
    (
        "package.json",
        r#"{"scripts":{"wipe":"rm -rf src","ok":"echo ok"}}"#,
    ),
    (
        "composer.json",
        r#"{"scripts":{"wipe":["rm -rf src"],"all":"@wipe","ok":"echo ok"}}"#,
    ),
    (
        "deno.json",
        r#"{"tasks":{"wipe":"rm -rf src","ok":"echo ok"}}"#,
    ),
    (
        "pyproject.toml",
        "[tool.poe.tasks]\nwipe = \"rm -rf src\"\nok = \"echo ok\"\n[tool.pdm.scripts]\nwipe = {cmd = \"rm -rf src\"}\n[tool.hatch.envs.default.scripts]\nwipe = [\"rm -rf src\"]\n",
    ),
    (
        "noxfile.py",
        "import nox\n@nox.session\ndef wipe(session):\n    session.run('rm', '-rf', 'src', external=True)\n\n@nox.session\ndef ok(session):\n    session.run('pytest')\n",
    ),
    (
        "tasks.py",
        "from invoke import task\n@task\ndef wipe(c):\n    c.run('rm -rf src')\n@task\ndef ok(c):\n    c.run('ls')\n",
    ),
    ("Procfile", "web: echo ok\nworker: rm -rf src\n"),
    (
        "mise.toml",
        "[tasks.wipe]\nrun = \"rm -rf src\"\n[tasks.ok]\nrun = \"echo ok\"\n",
    ),
    (
        "gulpfile.js",
        "exports.wipe = (done) => {\n  require('fs').rmSync('src', {recursive: true}); done();\n}\nexports.ok = (done) => {\n  done();\n}\n",
    ),
    (
        "docker-compose.yml",
        "services:\n  web:\n    image: x\n    volumes: [\".:/w\"]\n    command: rm -rf /w/src\n  db:\n    image: y\n    volumes:\n      - data:/var\n    command: rm -rf /w/src\n",
    ),
    (
        "Makefile",
        "include more.mk\nok:\n\t@echo ok\n%.gone: ; rm -rf src\nall: wipe\nlist := $(shell ls)\n",
    ),
    ("more.mk", "wipe:\n\trm -rf src\n"),
];

fn repository() -> Sandbox {
    let sandbox = Sandbox::with_files(FILES);
    sandbox.write("src/a.py", "changed\n");
    sandbox
}

#[test]
fn a_task_is_judged_by_what_its_file_says() {
    let sandbox = repository();
    for command in [
        "task wipe",
        "task all",
        "tox -e wipe",
        "rake wipe",
        "bundle exec rake wipe",
        "just wipe",
        "just all",
        "npm run wipe",
        "node --run wipe",
        "npx turbo run wipe",
        "composer wipe",
        "composer run-script all",
        "deno task wipe",
        "poe wipe",
        "poetry run poe wipe",
        "pdm run wipe",
        "hatch run wipe",
        "nox -s wipe",
        "invoke wipe",
        "inv ok wipe",
        "foreman start",
        "honcho start worker",
        "mise run wipe",
        "gulp wipe",
        "npx gulp wipe",
        "docker compose up",
        "docker-compose run web",
        "docker compose exec web rm -rf /w/src",
        "docker compose run --rm db rm -rf /var/lib",
        "make wipe",
        "make all",
        "make a.gone",
        "make ok --eval='x := $(shell rm -rf src)'",
    ] {
        assert_eq!(level(&sandbox, command).0, 3, "{command}");
    }
}

#[test]
fn a_task_that_only_looks_passes() {
    let sandbox = repository();
    for command in [
        "task ok",
        "task --list",
        "tox",
        "tox -l",
        "rake ok",
        "rake -T",
        "just ok",
        "just --list",
        "npm run ok",
        "node --run ok",
        "composer ok",
        "deno task ok",
        "poe ok",
        "nox -s ok",
        "nox -l",
        "invoke ok",
        "honcho start web",
        "mise run ok",
        "gulp ok",
        "docker compose up db",
        "docker compose config",
        "docker compose exec web ls /w",
        "make ok",
        "make -n wipe",
    ] {
        assert!(level(&sandbox, command).0 <= 1, "{command}");
    }
}
