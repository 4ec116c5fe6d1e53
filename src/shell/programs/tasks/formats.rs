//! As much of YAML, TOML, INI and JSON as tasks are written in. Pure.

/// The commands of a task of a Taskfile, and the tasks that it names.
pub(super) fn commands_of(text: &str, name: &str) -> (Vec<String>, Vec<String>) {
    let lines: Vec<&str> = text.lines().collect();
    let mut commands = Vec::new();
    let mut more = Vec::new();
    let Some((_, tasks)) = block(&lines, "tasks") else {
        return (commands, more);
    };
    let Some((own, inside)) = block(&tasks, name) else {
        return (commands, more);
    };
    if let Some(command) = scalar(&own) {
        commands.push(command);
    }
    let lists = inside
        .iter()
        .any(|line| line.trim_start().starts_with("- "))
        && block(&inside, "cmds").is_none();
    let mut parts = Vec::new();
    if lists {
        parts.push((String::new(), inside.clone()));
    }
    for key in ["cmds", "cmd", "deps"] {
        parts.extend(block(&inside, key).map(|(own, lines)| {
            (
                if key == "deps" {
                    format!("deps {own}")
                } else {
                    own
                },
                lines,
            )
        }));
    }
    for (own, lines) in parts {
        if let Some(deps) = own.strip_prefix("deps ") {
            more.extend(
                deps.split(['[', ',', ']'])
                    .map(|name| name.trim().trim_matches(['"', '\'']).to_owned())
                    .filter(|name| !name.is_empty()),
            );
            more.extend(items(&lines).into_iter().map(|item| {
                item.strip_prefix("task:")
                    .unwrap_or(&item)
                    .trim()
                    .to_owned()
            }));
            continue;
        }
        commands.extend(scalar(&own).filter(|_| !own.starts_with(['|', '>', '['])));
        if own.starts_with(['|', '>']) {
            commands.push(lines.join("\n"));
            continue;
        }
        commands.extend(
            own.starts_with('[')
                .then(|| literals(&own))
                .into_iter()
                .flatten(),
        );
        for item in items(&lines) {
            if let Some(task) = item.strip_prefix("task:") {
                more.push(task.trim().trim_matches(['"', '\'']).to_owned());
            } else {
                let command = ["cmd:", "defer:", "sh:"]
                    .iter()
                    .find_map(|key| item.strip_prefix(key))
                    .unwrap_or(&item);
                commands.extend(scalar(command.trim()));
            }
        }
    }
    (commands, more)
}

/// What stands behind a key at the outermost depth of some lines, and the lines below it.
pub(super) fn block<'l>(lines: &[&'l str], key: &str) -> Option<(String, Vec<&'l str>)> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let outer = lines
        .iter()
        .find(|line| !blank(line))
        .map(|line| depth(line))?;
    let at = lines.iter().position(|line| {
        !blank(line)
            && depth(line) == outer
            && line
                .trim_start()
                .trim_start_matches(['"', '\''])
                .strip_prefix(key)
                .is_some_and(|rest| rest.trim_start_matches(['"', '\'']).starts_with(':'))
    })?;
    let own = lines.get(at)?.split_once(':')?.1.trim().to_owned();
    let inside = lines
        .iter()
        .skip(at + 1)
        .take_while(|line| {
            blank(line)
                || depth(line) > outer
                || depth(line) == outer && line.trim_start().starts_with("- ")
        })
        .copied()
        .collect();
    Some((own, inside))
}

/// The items of a list, a text over several lines put together.
pub(super) fn items(lines: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut text = false;
    for line in lines {
        let trimmed = line.trim();
        if let Some(item) = trimmed.strip_prefix("- ") {
            text = matches!(
                item.trim_end_matches(['-', '+']),
                "|" | ">" | "cmd: |" | "cmd: >"
            );
            found.push(if text {
                String::new()
            } else {
                item.trim().to_owned()
            });
        } else if text && let Some(last) = found.last_mut() {
            last.push_str(trimmed);
            last.push('\n');
        }
    }
    found
}

/// A plain or quoted text; nothing where a structure follows.
pub(super) fn scalar(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.starts_with(['[', '{', '|', '>']) && !text.starts_with("[[") {
        return None;
    }
    let quoted = |quote: char| {
        text.strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
    };
    let inner = quoted('"').or_else(|| quoted('\''));
    Some(inner.unwrap_or(text).to_owned())
}

/// The commands that TOML names under a section: a text, a list, or a table of its own.
pub(super) fn toml(text: &str, sections: &[&str], key: &str) -> Vec<String> {
    let fits = |section: &str| {
        sections
            .iter()
            .any(|one| crate::shell::matches(one.as_bytes(), section.as_bytes()))
    };
    let mut commands = Vec::new();
    let mut section = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section = name.trim_matches(['[', ']', ' ']).replace('"', "");
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        let name = name.trim().trim_matches(['"', '\'']);
        let table = section
            .rsplit_once('.')
            .is_some_and(|(above, last)| last == key && fits(above));
        let dotted = name
            .rsplit_once('.')
            .is_some_and(|(above, last)| above == key && RUNS.contains(&last));
        let own = fits(&section) && (name == key || dotted);
        if !(own || table && RUNS.contains(&name)) {
            continue;
        }
        let value = whole(value.trim(), &mut lines);
        let program = value.starts_with('[') && name.rsplit('.').next() == Some("cmd");
        let found = literals(&value);
        if program {
            commands.push(found.join(" "));
        } else {
            commands.extend(found);
        }
    }
    commands
}

/// Keys of a task's own table that hold what it runs.
const RUNS: &[&str] = &[
    "run",
    "cmd",
    "shell",
    "script",
    "command",
    "composite",
    "sequence",
];

/// A value that may go on over several lines.
fn whole<'l>(first: &str, lines: &mut impl Iterator<Item = &'l str>) -> String {
    let mut value = first.to_owned();
    let close = ["\"\"\"", "'''"]
        .into_iter()
        .find(|quote| first.starts_with(quote) && first.matches(quote).count() < 2)
        .or_else(|| (first.starts_with('[') && !first.ends_with(']')).then_some("]"));
    if let Some(close) = close {
        for line in lines.take(200) {
            value.push('\n');
            value.push_str(line);
            if line.trim_end().ends_with(close) {
                break;
            }
        }
    }
    value
}

/// The texts in quotes.
pub(super) fn literals(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'']) {
        let tail = rest.get(at..).unwrap_or_default();
        let quote = ["\"\"\"", "'''", "\"", "'"]
            .into_iter()
            .find(|quote| tail.starts_with(quote))
            .unwrap_or("\"");
        let inside = tail.get(quote.len()..).unwrap_or_default();
        let mut literal = String::new();
        let mut letters = inside.char_indices();
        let mut end = inside.len();
        while let Some((at, letter)) = letters.next() {
            if inside.get(at..).is_some_and(|rest| rest.starts_with(quote)) {
                end = at + quote.len();
                break;
            }
            match letter {
                '\\' if quote.starts_with('"') => match letters.next() {
                    Some((_, 'n')) => literal.push('\n'),
                    Some((_, next)) => literal.push(next),
                    None => {}
                },
                letter => literal.push(letter),
            }
        }
        found.push(literal);
        rest = inside.get(end..).unwrap_or_default();
    }
    found
}

/// The lines of a setting in a section of an INI file.
pub(super) fn ini(text: &str, section: &str, key: &str) -> Vec<String> {
    let mut here = false;
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with('[') && !line.starts_with([' ', '\t']) {
            here = trimmed.trim_matches(['[', ']']) == section;
            inside = false;
        } else if here && !line.starts_with([' ', '\t']) {
            inside = false;
            if let Some((name, value)) = line.split_once('=')
                && name.trim() == key
            {
                inside = true;
                found.push(value.trim().to_owned());
            }
        } else if here && inside {
            found.push(trimmed.trim_start_matches('-').trim().to_owned());
        }
    }
    found.retain(|line| !line.is_empty() && !line.starts_with('#'));
    found
}

/// A script of a JSON file, as its lines.
pub(super) fn json(text: &[u8], under: &str, name: &str) -> Vec<String> {
    let Ok(file) = serde_json::from_slice::<serde_json::Value>(text) else {
        return Vec::new();
    };
    let Some(script) = file.pointer(under).and_then(|scripts| scripts.get(name)) else {
        return Vec::new();
    };
    let lines: Vec<&serde_json::Value> = match script {
        serde_json::Value::Array(lines) => lines.iter().collect(),
        serde_json::Value::Object(task) => task.get("command").into_iter().collect(),
        line => vec![line],
    };
    lines
        .into_iter()
        .filter_map(|line| line.as_str())
        .map(str::to_owned)
        .collect()
}

/// The line that begins something, and the deeper ones below it.
pub(super) fn body(text: &str, begins: impl Fn(&str) -> bool) -> String {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().skip_while(|line| !begins(line));
    let Some(first) = lines.next() else {
        return String::new();
    };
    let outer = depth(first);
    let mut found = String::from(first);
    for line in lines.take_while(|line| line.trim().is_empty() || depth(line) > outer) {
        found.push('\n');
        found.push_str(line);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{body, commands_of, ini, json, literals, toml};

    #[test]
    fn a_taskfile_says_what_a_task_runs() {
        let text = "version: '3'\ntasks:\n  a: echo a\n  b:\n    - echo b\n    - task: a\n  c:\n    desc: all\n    deps: [a, 'b']\n    cmds:\n      - rm -rf x\n      - cmd: rm y\n        silent: true\n      - |\n        rm z\n        rm w\n      - task: a\n    status:\n      - test -f q\n  d:\n    cmd: \"rm d\"\n";
        let all = |name| commands_of(text, name);
        assert_eq!(all("a").0, ["echo a"]);
        assert_eq!(all("b"), (vec!["echo b".into()], vec!["a".into()]));
        assert_eq!(all("c").0, ["rm -rf x", "rm y", "rm z\nrm w"]);
        assert_eq!(all("c").1, ["a", "a", "b"]);
        assert_eq!(all("d").0, ["rm d"]);
        assert_eq!(all("none").0, Vec::<String>::new());
    }

    #[test]
    fn toml_says_what_a_task_runs() {
        let text = "[tool.poe.tasks]\na = \"rm a\"\nb = {cmd = \"rm b\"}\nc.cmd = \"rm c\"\nd = [\"rm d\", 'rm e']\n[tool.poe.tasks.f]\ncmd = [\"rm\", \"f\"]\nhelp = \"no\"\n[tasks.g]\nrun = '''\nrm g\n'''\n";
        let poe = |key| toml(text, &["tool.poe.tasks"], key);
        assert_eq!(poe("a"), ["rm a"]);
        assert_eq!(poe("b"), ["rm b"]);
        assert_eq!(poe("c"), ["rm c"]);
        assert_eq!(poe("d"), ["rm d", "rm e"]);
        assert_eq!(poe("f"), ["rm f"]);
        assert_eq!(toml(text, &["tasks"], "g"), ["\nrm g\n"]);
        assert!(poe("g").is_empty());
    }

    #[test]
    fn other_formats_say_what_a_task_runs() {
        let text = "[testenv]\ncommands = pytest\n[testenv:x]\ndeps =\n  y\ncommands =\n  rm a\n  - rm b\n";
        assert_eq!(ini(text, "testenv", "commands"), ["pytest"]);
        assert_eq!(ini(text, "testenv:x", "commands"), ["rm a", "rm b"]);
        let text =
            br#"{"scripts":{"a":"rm a","b":["rm b","@a"]},"tasks":{"c":{"command":"rm c"}}}"#;
        assert_eq!(json(text, "/scripts", "a"), ["rm a"]);
        assert_eq!(json(text, "/scripts", "b"), ["rm b", "@a"]);
        assert_eq!(json(text, "/tasks", "c"), ["rm c"]);
        assert_eq!(literals(r#"a "b\"c" 'd'"#), ["b\"c", "d"]);
        let text = "def a(c):\n    c.run('x')\n\n    y()\ndef b(c):\n    z()\n";
        assert_eq!(
            body(text, |line| line.starts_with("def a")),
            "def a(c):\n    c.run('x')\n\n    y()"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[a-c:=\\[\\]\"' \\n|>{}-]{0,80}") {
            let _ = commands_of(&format!("tasks:\n{text}"), "a");
            let _ = toml(&text, &["a", "*"], "b");
            let _ = ini(&text, "a", "b");
            let _ = json(text.as_bytes(), "/a", "b");
            let _ = body(&text, |line| line.starts_with('a'));
        }
    }
}
