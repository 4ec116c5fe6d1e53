//! Confirmations signed by an SSH key (`confirm.signing = "ssh"`).

use super::hold::Hold;
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::prefs::{Confirm, Signing};
use crate::repo::Workspace;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The namespace of the signatures: a signature made for anything else does not fit.
pub const NAMESPACE: &str = "holdpoint-confirm";

/// Signs a statement with the person's key; `ssh-keygen` asks for passphrase or touch itself.
pub(super) fn sign(confirm: &Confirm, workspace: &Workspace, statement: &str) -> Result<String> {
    let key = outside(
        confirm.signing_key.as_deref(),
        "confirm.signing_key",
        workspace,
    )?;
    let dir = super::store::dir(workspace);
    let file = dir.join(format!("sign.{}", std::process::id()));
    let doing = || "cannot sign the confirmation".to_owned();
    std::fs::write(&file, statement).doing(ErrorKind::Io, doing)?;
    let status = Command::new("ssh-keygen")
        .args(["-Y", "sign", "-n", NAMESPACE, "-f"])
        .arg(&key)
        .arg(&file)
        .stdout(Stdio::null())
        .status();
    let signature_file = file.with_extension(format!("{}.sig", std::process::id()));
    let signature = std::fs::read_to_string(&signature_file);
    for path in [&file, &signature_file] {
        // What is left behind holds no secret, and its name is our own.
        let _ = std::fs::remove_file(path);
    }
    if !status.doing(ErrorKind::Config, doing)?.success() {
        return Err(Error::new(
            ErrorKind::Refused,
            "ssh-keygen did not sign the confirmation",
        )
        .hint(format!(
            "try: ssh-keygen -Y sign -n {NAMESPACE} -f {} FILE",
            key.display()
        )));
    }
    signature.doing(ErrorKind::Io, doing)
}

/// Returns true where no signature is asked for, or the hold's confirmation has a good one.
pub(super) fn is_good(confirm: &Confirm, workspace: &Workspace, hold: &Hold) -> Result<bool> {
    if confirm.signing == Signing::None {
        return Ok(true);
    }
    let signers = outside(
        confirm.allowed_signers.as_deref(),
        "confirm.allowed_signers",
        workspace,
    )?;
    let Some(confirmation) = &hold.confirmation else {
        return Ok(false);
    };
    let Some(signature) = &confirmation.signature else {
        return Ok(false);
    };
    let doing = || "cannot check the confirmation's signature".to_owned();
    let file = super::store::dir(workspace).join(format!("verify.{}", std::process::id()));
    std::fs::write(&file, signature).doing(ErrorKind::Io, doing)?;
    let verified = verify(
        confirm,
        &signers,
        &file,
        &hold.statement(&confirmation.nonce, confirmation.expires),
    );
    let _ = std::fs::remove_file(&file);
    verified.doing(ErrorKind::Config, doing)
}

fn verify(
    confirm: &Confirm,
    signers: &Path,
    signature: &Path,
    statement: &str,
) -> std::io::Result<bool> {
    let mut child = Command::new("ssh-keygen")
        .args(["-Y", "verify", "-n", NAMESPACE, "-f"])
        .arg(signers)
        .arg("-I")
        .arg(confirm.signer.as_deref().unwrap_or("holdpoint"))
        .arg("-s")
        .arg(signature)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(statement.as_bytes())?;
    }
    Ok(child.wait()?.success())
}

/// A key file that the policy names: absolute, and not in the worktree, where an agent writes.
fn outside(path: Option<&Path>, key: &str, workspace: &Workspace) -> Result<PathBuf> {
    let Some(path) = path else {
        return Err(Error::new(
            ErrorKind::Config,
            format!("confirmations need an SSH signature, but {key} is not set"),
        )
        .hint(format!(
            "a person sets it: holdpoint prefs set --user {key} /path/to/file"
        )));
    };
    if !path.is_absolute()
        || path.starts_with(&workspace.root)
        || path.starts_with(workspace.main_root())
    {
        return Err(Error::new(
            ErrorKind::Config,
            format!(
                "{key} must be an absolute path outside the workspace, not {}",
                path.display()
            ),
        ));
    }
    Ok(path.to_path_buf())
}
