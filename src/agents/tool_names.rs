//! The names that agents give to tools and their arguments.

/// What a known tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Shell,
    Write,
    Edit,
    Editor,
    Delete,
    Move,
    Patch,
    Read,
    Search,
    Harmless,
}

const TOOLS: &[(Class, &[&str])] = &[
    (
        Class::Shell,
        &[
            "bash",
            "shell",
            "powershell",
            "run_shell_command",
            "exec_command",
            "local_shell",
            "shell_command",
            "run_terminal_cmd",
            "run_in_terminal",
            "terminal",
            "execute_command",
            "run_command",
            "write_bash",
            "write_powershell",
            "write_stdin",
            "unified_exec",
        ],
    ),
    (
        Class::Write,
        &[
            "write",
            "write_file",
            "create",
            "create_file",
            "writefile",
            "write_to_file",
            "save_file",
        ],
    ),
    (
        Class::Edit,
        &[
            "edit",
            "replace",
            "edit_file",
            "str_replace",
            "search_replace",
            "replace_in_file",
            "multiedit",
            "multi_edit",
            "notebookedit",
            "notebook_edit",
            "edit_notebook",
            "insert_edit_into_file",
        ],
    ),
    (
        Class::Editor,
        &[
            "str_replace_editor",
            "str_replace_based_edit_tool",
            "text_editor",
        ],
    ),
    (
        Class::Delete,
        &["delete", "delete_file", "deletefile", "remove_file"],
    ),
    (Class::Move, &["move", "move_file", "rename", "rename_file"]),
    (Class::Patch, &["apply_patch", "applypatch", "patch"]),
    (
        Class::Read,
        &[
            "read",
            "read_file",
            "readfile",
            "view",
            "view_image",
            "notebookread",
            "open_file",
            "read_many_files",
            "read_text_file",
            "get_file_contents",
        ],
    ),
    (
        Class::Search,
        &[
            "grep",
            "glob",
            "ls",
            "list",
            "list_directory",
            "list_dir",
            "search_file_content",
            "grep_search",
            "search",
            "codebase_search",
            "file_search",
            "search_files",
            "find",
            "websearch",
            "web_search",
            "google_web_search",
            "codesearch",
            "semsearch",
        ],
    ),
    (
        Class::Harmless,
        &[
            "webfetch",
            "web_fetch",
            "fetch",
            "todowrite",
            "todo_write",
            "todoread",
            "write_todos",
            "update_todo",
            "update_plan",
            "task",
            "agent",
            "invoke_agent",
            "spawn_agent",
            "wait",
            "wait_agent",
            "send_input",
            "close_agent",
            "resume_agent",
            "exitplanmode",
            "exit_plan_mode",
            "enterplanmode",
            "enter_plan_mode",
            "askuserquestion",
            "ask_user",
            "question",
            "request_user_input",
            "skill",
            "activate_skill",
            "slashcommand",
            "bashoutput",
            "killbash",
            "killshell",
            "kill_shell",
            "read_bash",
            "stop_bash",
            "list_bash",
            "report_intent",
            "save_memory",
            "toolsearch",
            "tool_search",
            "listmcpresources",
            "listmcpresourcestool",
            "readmcpresource",
            "readmcpresourcetool",
            "lsp",
            "plan_exit",
            "plan_enter",
            "taskcreate",
            "taskupdate",
            "tasklist",
            "taskget",
            "taskoutput",
            "taskstop",
            "sendmessage",
            "create_directory",
            "batch",
        ],
    ),
];

/// Arguments that name one file.
pub(super) const PATH_KEYS: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "target_file",
    "filepath",
    "file",
    "filename",
    "relative_path",
    "absolute_path",
    "fileName",
    "uri",
];
/// Arguments that name several.
pub(super) const PATH_LISTS: &[&str] = &["paths", "files", "file_paths", "filePaths"];
/// Arguments with a file's whole content.
pub(super) const CONTENT_KEYS: &[&str] = &[
    "content",
    "file_text",
    "contents",
    "text",
    "new_content",
    "fileText",
];
/// Arguments with the text to be replaced.
pub(super) const OLD_KEYS: &[&str] = &[
    "old_string",
    "oldString",
    "old_str",
    "oldText",
    "old_text",
    "old_source",
];
/// Arguments with its replacement.
pub(super) const NEW_KEYS: &[&str] = &[
    "new_string",
    "newString",
    "new_str",
    "newText",
    "new_text",
    "new_source",
];
/// Arguments with a shell command.
pub(super) const COMMAND_KEYS: &[&str] = &[
    "command",
    "cmd",
    "script",
    "shell_command",
    "commandLine",
    "command_line",
    "input",
    "chars",
];
/// Arguments with the directory that a command runs in.
pub(super) const DIR_KEYS: &[&str] = &[
    "workdir",
    "working_directory",
    "dir_path",
    "directory",
    "cwd",
];
/// Arguments with the path that is moved.
pub(super) const FROM_KEYS: &[&str] = &[
    "source",
    "from",
    "old_path",
    "oldPath",
    "src",
    "source_path",
];
/// Arguments with the path that it is moved to.
pub(super) const TO_KEYS: &[&str] = &[
    "destination",
    "to",
    "new_path",
    "newPath",
    "dest",
    "target",
    "destination_path",
];

/// Verbs of tools that only read.
pub(super) const READING: &[&str] = &[
    "read", "get", "list", "search", "find", "fetch", "view", "show", "describe", "lookup",
    "status", "diff", "log", "check", "count", "stat", "tree", "info", "query", "explain",
    "preview",
];
/// Verbs of tools that take away.
pub(super) const DELETING: &[&str] = &[
    "delete",
    "remove",
    "rm",
    "unlink",
    "trash",
    "destroy",
    "drop",
    "purge",
    "wipe",
    "erase",
    "truncate",
    "reset",
    "terminate",
    "kill",
];
/// Verbs of tools that move.
pub(super) const MOVING: &[&str] = &["move", "rename", "mv"];
/// Verbs of tools that run something.
pub(super) const RUNNING: &[&str] = &["exec", "execute", "run", "eval", "shell", "bash"];

/// The class of a tool by its own name in lower case.
pub(super) fn class_of(name: &str) -> Option<Class> {
    TOOLS
        .iter()
        .find(|(_, names)| names.contains(&name))
        .map(|(class, _)| *class)
}
