//! Calls that are known by name, with what they do.

use super::Language;
use super::scan::Call;
use bstr::ByteSlice as _;

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Deletes its first argument or its receiver.
    Delete,
    /// Removes an empty directory.
    DeleteEmpty,
    /// Replaces a file's content.
    Write,
    /// Adds to a file.
    Append,
    /// Cuts a file.
    Truncate,
    /// Opens a file, to write if its mode says so.
    Open,
    /// Moves its first argument to its second.
    Move,
    /// Copies its first argument to its second.
    Copy,
    /// Starts a process.
    Run,
    /// Runs code given as text.
    Evaluate,
    /// Sends a query to a database.
    Query,
    /// Tells a server to delete.
    ServerDelete,
    /// Removes packages of the language.
    Unpackage,
}

/// Last segments that mean the same whatever they are called on.
const ANYWHERE: &[(&str, Does)] = &[
    ("rmtree", Does::Delete),
    ("remove_tree", Does::Delete),
    ("unlink", Does::Delete),
    ("unlinkSync", Does::Delete),
    ("rmSync", Does::Delete),
    ("rmdirSync", Does::Delete),
    ("rm_rf", Does::Delete),
    ("rm_rf!", Does::Delete),
    ("rm_r", Does::Delete),
    ("rm_f", Does::Delete),
    ("remove_dir", Does::Delete),
    ("remove_dir_all", Does::Delete),
    ("remove_entry", Does::Delete),
    ("remove_entry_secure", Does::Delete),
    ("rimraf", Does::Delete),
    ("rimrafSync", Does::Delete),
    ("removeSync", Does::Delete),
    ("emptyDirSync", Does::Delete),
    ("emptyDir", Does::Delete),
    ("send2trash", Does::DeleteEmpty),
    ("deltree", Does::Delete),
    ("writeFileSync", Does::Write),
    ("writeFile", Does::Write),
    ("outputFileSync", Does::Write),
    ("createWriteStream", Does::Write),
    ("writeTextFile", Does::Write),
    ("writeTextFileSync", Does::Write),
    ("write_text", Does::Write),
    ("write_bytes", Does::Write),
    ("file_put_contents", Does::Write),
    ("binwrite", Does::Write),
    ("appendFileSync", Does::Append),
    ("appendFile", Does::Append),
    ("truncateSync", Does::Truncate),
    ("renameSync", Does::Move),
    ("copyFileSync", Does::Copy),
    ("copyfile", Does::Copy),
    ("check_call", Does::Run),
    ("check_output", Does::Run),
    ("getoutput", Does::Run),
    ("getstatusoutput", Does::Run),
    ("Popen", Does::Run),
    ("create_subprocess_shell", Does::Run),
    ("execSync", Does::Run),
    ("spawnSync", Does::Run),
    ("execFileSync", Does::Run),
    ("execFile", Does::Run),
    ("shell_exec", Does::Run),
    ("passthru", Does::Run),
    ("proc_open", Does::Run),
    ("popen", Does::Run),
    ("popen2e", Does::Run),
    ("capture2", Does::Run),
    ("capture2e", Does::Run),
    ("capture3", Does::Run),
    ("system", Does::Run),
    ("execvp", Does::Run),
    ("execlp", Does::Run),
    ("execv", Does::Run),
    ("spawnlp", Does::Run),
    ("spawnvp", Does::Run),
    ("executescript", Does::Query),
    ("execute", Does::Query),
    ("executemany", Does::Query),
    ("runInNewContext", Does::Evaluate),
    ("runInThisContext", Does::Evaluate),
    ("delete_all", Does::ServerDelete),
    ("destroy_all", Does::ServerDelete),
    ("drop_database", Does::ServerDelete),
    ("dropDatabase", Does::ServerDelete),
    ("drop_collection", Does::ServerDelete),
    ("delete_bucket", Does::ServerDelete),
    ("flushall", Does::ServerDelete),
    ("flushdb", Does::ServerDelete),
    ("drop_all", Does::ServerDelete),
];

/// Names that mean it only with what stands before them.
const QUALIFIED: &[(&str, Does)] = &[
    ("os.remove", Does::Delete),
    ("os.removedirs", Does::Delete),
    ("os.rmdir", Does::DeleteEmpty),
    ("os.rename", Does::Move),
    ("os.renames", Does::Move),
    ("os.replace", Does::Move),
    ("os.truncate", Does::Truncate),
    ("os.execute", Does::Run),
    ("os.exec", Does::Run),
    ("os.execl", Does::Run),
    ("os.posix_spawn", Does::Run),
    ("pty.spawn", Does::Run),
    ("shutil.move", Does::Move),
    ("shutil.copy", Does::Copy),
    ("shutil.copy2", Does::Copy),
    ("shutil.copytree", Does::Copy),
    ("subprocess.run", Does::Run),
    ("subprocess.call", Does::Run),
    ("session.run", Does::Run),
    ("Directory.Delete", Does::Delete),
    ("File.Delete", Does::Delete),
    ("Process.Start", Does::Run),
    ("os.removeDir", Does::Delete),
    ("os.removeFile", Does::Delete),
    ("c.run", Does::Run),
    ("ctx.run", Does::Run),
    ("context.run", Does::Run),
    ("requests.delete", Does::ServerDelete),
    ("httpx.delete", Does::ServerDelete),
    ("axios.delete", Does::ServerDelete),
    ("io.open", Does::Open),
    ("io.popen", Does::Run),
    ("IO.popen", Does::Run),
    ("codecs.open", Does::Open),
    ("Path.open", Does::Open),
    ("fs.rm", Does::Delete),
    ("fs.rmdir", Does::Delete),
    ("fs.remove", Does::Delete),
    ("fs.rename", Does::Move),
    ("fs.truncate", Does::Truncate),
    ("fs.copyFile", Does::Copy),
    ("fs.cp", Does::Copy),
    ("fs.cpSync", Does::Copy),
    ("fsp.rm", Does::Delete),
    ("fsPromises.rm", Does::Delete),
    ("promises.rm", Does::Delete),
    ("promises.rmdir", Does::Delete),
    ("fs/promises.rm", Does::Delete),
    ("node:fs.rm", Does::Delete),
    ("node:fs/promises.rm", Does::Delete),
    ("fse.remove", Does::Delete),
    ("fs-extra.remove", Does::Delete),
    ("rimraf.sync", Does::Delete),
    ("del.sync", Does::Delete),
    ("Deno.remove", Does::Delete),
    ("Deno.removeSync", Does::Delete),
    ("Deno.run", Does::Run),
    ("Deno.Command", Does::Run),
    ("Bun.write", Does::Write),
    ("Bun.spawn", Does::Run),
    ("child_process.exec", Does::Run),
    ("child_process.spawn", Does::Run),
    ("child_process.fork", Does::Run),
    ("node:child_process.exec", Does::Run),
    ("node:child_process.spawn", Does::Run),
    ("cp.exec", Does::Run),
    ("cp.spawn", Does::Run),
    ("File.delete", Does::Delete),
    ("File.unlink", Does::Delete),
    ("File.rm", Does::Delete),
    ("File.rm!", Does::Delete),
    ("File.rmdir", Does::DeleteEmpty),
    ("File.write", Does::Write),
    ("File.write!", Does::Write),
    ("IO.write", Does::Write),
    ("File.open", Does::Open),
    ("File.new", Does::Open),
    ("File.rename", Does::Move),
    ("File.truncate", Does::Truncate),
    ("FileUtils.rm", Does::Delete),
    ("FileUtils.remove", Does::Delete),
    ("FileUtils.safe_unlink", Does::Delete),
    ("FileUtils.mv", Does::Move),
    ("FileUtils.move", Does::Move),
    ("FileUtils.cp", Does::Copy),
    ("FileUtils.cp_r", Does::Copy),
    ("FileUtils.rmdir", Does::DeleteEmpty),
    ("Dir.delete", Does::DeleteEmpty),
    ("Dir.rmdir", Does::DeleteEmpty),
    ("Dir.unlink", Does::DeleteEmpty),
    ("System.cmd", Does::Run),
    ("Kernel.system", Does::Run),
    ("Kernel.exec", Does::Run),
    ("Process.spawn", Does::Run),
    ("Open3.pipeline", Does::Run),
    ("file.remove", Does::Delete),
    ("remove.packages", Does::Unpackage),
    ("Pkg.rm", Does::Unpackage),
    ("renv.remove", Does::Unpackage),
    ("Pkg.gc", Does::Unpackage),
];

/// Names without anything before them, by language.
const BARE: &[(Language, &str, Does)] = &[
    (Language::Python, "open", Does::Open),
    (Language::Python, "exec", Does::Evaluate),
    (Language::Python, "eval", Does::Evaluate),
    (Language::Python, "remove", Does::Delete),
    (Language::Python, "removedirs", Does::Delete),
    (Language::Python, "run", Does::Run),
    (Language::Python, "call", Does::Run),
    (Language::Python, "rmdir", Does::DeleteEmpty),
    (Language::Script, "exec", Does::Run),
    (Language::Script, "spawn", Does::Run),
    (Language::Script, "eval", Does::Evaluate),
    (Language::Script, "Function", Does::Evaluate),
    (Language::Script, "rm", Does::Delete),
    (Language::Ruby, "exec", Does::Run),
    (Language::Ruby, "spawn", Does::Run),
    (Language::Ruby, "eval", Does::Evaluate),
    (Language::Ruby, "instance_eval", Does::Evaluate),
    (Language::Ruby, "open", Does::Open),
    (Language::Perl, "exec", Does::Run),
    (Language::Perl, "qx", Does::Run),
    (Language::Perl, "eval", Does::Evaluate),
    (Language::Perl, "open", Does::Open),
    (Language::Perl, "rename", Does::Move),
    (Language::Perl, "move", Does::Move),
    (Language::Perl, "copy", Does::Copy),
    (Language::Perl, "truncate", Does::Truncate),
    (Language::Perl, "rmdir", Does::DeleteEmpty),
    (Language::Php, "exec", Does::Run),
    (Language::Php, "eval", Does::Evaluate),
    (Language::Php, "assert", Does::Evaluate),
    (Language::Php, "rename", Does::Move),
    (Language::Php, "copy", Does::Copy),
    (Language::Php, "fopen", Does::Open),
    (Language::Php, "rmdir", Does::DeleteEmpty),
    (Language::Other, "rm", Does::Delete),
    (Language::Other, "removeDir", Does::Delete),
    (Language::Other, "removeFile", Does::Delete),
    (Language::Other, "exec", Does::Run),
    (Language::Other, "execCmd", Does::Run),
    (Language::Other, "execShellCmd", Does::Run),
    (Language::Other, "load", Does::Evaluate),
    (Language::Other, "loadstring", Does::Evaluate),
    (Language::Other, "eval", Does::Evaluate),
];

/// Says what a call does, if its name is known.
pub(super) fn find(language: Language, call: &Call, text: &[u8]) -> Option<Does> {
    let name = call.name.as_str();
    let last = name.rsplit('.').next().unwrap_or(name);
    if call.on_path() {
        let does = match last {
            "unlink" | "rmtree" | "delete" | "deleteDir" | "deleteRecursively" => {
                Some(Does::Delete)
            }
            "write_text" | "write_bytes" => Some(Does::Write),
            "rmdir" => Some(Does::DeleteEmpty),
            "open" => Some(Does::Open),
            _ => None,
        };
        if does.is_some() {
            return does;
        }
    }
    if let Some((_, does)) = QUALIFIED.iter().find(|(known, _)| {
        name == *known
            || name
                .strip_suffix(known)
                .is_some_and(|before| before.ends_with('.'))
    }) {
        return Some(*does);
    }
    if let Some((_, does)) = ANYWHERE.iter().find(|(known, _)| last == *known) {
        // JavaScript has no such process call, and templates are executed too.
        return Some(*does);
    }
    if deletes_in_a_cloud(last, text) {
        return Some(Does::ServerDelete);
    }
    if name.contains('.') {
        return None;
    }
    let found = BARE
        .iter()
        .find(|(of, known, _)| *of == language && *known == name)
        .map(|(_, _, does)| *does)?;
    // Generic words count only where they were imported.
    let generic = match language {
        Language::Python => matches!(name, "remove" | "removedirs" | "run" | "call" | "rmdir"),
        Language::Script => matches!(name, "rm" | "exec" | "spawn"),
        _ => false,
    };
    let imported = text.contains_str("import") || text.contains_str("require");
    (!generic || imported).then_some(found)
}

/// `boto3.client('ec2').terminate_instances(…)`, `bucket.objects.all().delete()`.
fn deletes_in_a_cloud(last: &str, text: &[u8]) -> bool {
    let verb = last.split(['_', '-']).next().unwrap_or(last);
    let deletes = matches!(
        verb,
        "delete" | "terminate" | "deregister" | "purge" | "destroy"
    ) || last.starts_with("begin_delete");
    deletes
        && [
            "boto3",
            "botocore",
            "google.cloud",
            "googleapiclient",
            "azure.",
            "kubernetes",
            "aws-sdk",
            "@google-cloud",
            "@azure/",
            "digitalocean",
            "openstack",
        ]
        .iter()
        .any(|client| text.contains_str(client))
}

/// Deletions that are handed to another function by name: `map(os.remove, …)`, `forEach(fs.unlinkSync)`.
const HANDED_OVER: &[&str] = &[
    "os.remove",
    "os.unlink",
    "shutil.rmtree",
    "Path.unlink",
    "fs.unlinkSync",
    "fs.rmSync",
    "fs.rm",
    "fs.unlink",
    "fs.promises.unlink",
    "fs.promises.rm",
    "unlinkSync",
    "rmSync",
    "rmtree",
    "\"unlink\"",
    "'unlink'",
    "\"rmdir\"",
    "'rmdir'",
    ":delete",
    "Deno.removeSync",
    "Deno.remove",
    "FileUtils.rm_rf",
];

/// Whether a text hands a deletion to another function.
pub(super) fn passes_deletion(text: &[u8]) -> bool {
    HANDED_OVER.iter().any(|name| {
        text.find_iter(name).any(|at| {
            let before = text.get(..at).unwrap_or_default().trim_ascii_end();
            let after = text
                .get(at + name.len()..)
                .unwrap_or_default()
                .trim_ascii_start();
            let opens = before.ends_with(b"(") || before.ends_with(b",");
            let closes = after.starts_with(b")") || after.starts_with(b",");
            opens && closes && applies(before)
        })
    })
}

/// Whether the innermost call that is open applies a function to many things.
fn applies(before: &[u8]) -> bool {
    let name = before.rsplit_once_str("(").map_or(before, |(name, _)| name);
    [
        "map",
        "forEach",
        "filter",
        "each",
        "method",
        "array_map",
        "array_walk",
        "call_user_func",
        "call_user_func_array",
        "submit",
        "starmap",
        "imap",
        "imap_unordered",
        "partial",
        "register",
        "setTimeout",
        "apply",
        "then",
        "reduce",
        "run_in_executor",
        "to_thread",
    ]
    .iter()
    .any(|one| name.trim_ascii_end().ends_with(one.as_bytes()))
}
