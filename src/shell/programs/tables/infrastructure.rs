//! Infrastructure as code and configuration management: terraform, pulumi, ansible, ….

use super::{Row, asks, kills, tells};

const TF: &str = "terraform|tofu|opentofu|terragrunt|tf|terraform-*";

/// The rows.
pub(super) const ROWS: &[Row] = &[
    asks(
        TF,
        "init",
        "what terraform knows of infrastructure moves to another place",
    )
    .with("-migrate-state -force-copy --migrate-state"),
    kills(
        "terragrunt",
        "run|run-all|stack ** destroy",
        "infrastructure is destroyed",
    ),
    asks(
        "terragrunt",
        "run|run-all|stack ** apply",
        "infrastructure changes",
    ),
    kills(TF, "destroy", "infrastructure is destroyed"),
    kills(TF, "apply", "infrastructure is destroyed").with("-destroy --destroy"),
    kills(
        TF,
        "apply",
        "infrastructure changes, or goes, without a question",
    )
    .with("-auto-approve --auto-approve -auto-approve=true"),
    asks(TF, "apply", "infrastructure changes"),
    kills(TF, "run-all destroy", "infrastructure is destroyed"),
    kills(
        TF,
        "run-all apply",
        "infrastructure changes without a question",
    ),
    kills(
        TF,
        "state rm|push|replace-provider",
        "what terraform knows of infrastructure is cut or replaced",
    ),
    asks(
        TF,
        "state mv",
        "what terraform knows of infrastructure moves",
    ),
    kills(
        TF,
        "taint",
        "a resource is marked to be destroyed and made anew",
    ),
    tells(
        TF,
        "untaint|import|refresh",
        "what terraform knows of infrastructure changes",
    ),
    kills(TF, "workspace delete", "a workspace's state is deleted"),
    kills(TF, "force-unlock", "another run's lock is broken"),
    kills("pulumi", "destroy|down", "infrastructure is destroyed").unless("--preview-only"),
    kills(
        "pulumi",
        "up|update|refresh|import",
        "infrastructure changes without a question",
    )
    .with("--yes -y --skip-preview -f"),
    asks("pulumi", "up|update", "infrastructure changes"),
    kills(
        "pulumi",
        "stack rm|import",
        "a stack and its state are deleted",
    ),
    kills(
        "pulumi",
        "state delete|unprotect|rename|repair",
        "what pulumi knows of infrastructure is cut",
    ),
    kills("pulumi", "cancel", "another update is cancelled"),
    kills("pulumi", "config rm|rm-all", "settings are deleted"),
    kills("cdk", "destroy", "a stack is destroyed"),
    kills("cdk", "gc|rollback", "deployed assets are deleted"),
    asks("cdk", "deploy", "infrastructure changes without a question")
        .with("--require-approval=never --force never"),
    kills("cdktf", "destroy", "infrastructure is destroyed"),
    asks(
        "cdktf",
        "deploy|apply",
        "infrastructure changes without a question",
    )
    .with("--auto-approve"),
    kills(
        "crossplane",
        "uninstall|delete",
        "a configuration is deleted",
    ),
    kills(
        "terragrunt",
        "destroy-all|destroy*",
        "infrastructure is destroyed",
    ),
    tells("terragrunt", "apply-all", "infrastructure is changed"),
    kills("packer", "build", "earlier images are deleted").with("-force --force"),
    kills("serverless", "remove|rollback", "a service is taken down"),
    kills("ansible", "", "hosts' files or state are removed")
        .with("*state=absent* *rm?-rf* *rm?-r*"),
    asks("ansible", "", "services of hosts are stopped")
        .with("*state=stopped* *state=restarted* *enabled=no* *state=latest*"),
    asks("ansible", "", "hosts are changed").with("shell command raw script reboot"),
    asks(
        "ansible-playbook|ansible-pull",
        "*",
        "hosts are changed as a playbook says",
    )
    .unless("--check -C --syntax-check --list-tasks --list-hosts --list-tags -h"),
    kills(
        "ansible-vault",
        "rekey|decrypt",
        "secrets are written in the clear or under another key",
    ),
    kills(
        "ansible-galaxy",
        "collection|role|remove delete|remove",
        "a collection or role is deleted",
    ),
    asks("puppet", "apply|agent", "the machine is configured anew").unless("--noop"),
    kills(
        "puppet",
        "node|cert|resource clean|purge|destroy|deactivate",
        "a node is forgotten",
    ),
    asks(
        "chef-client|chef-solo|chef-apply",
        "",
        "the machine is configured anew",
    )
    .unless("--why-run -W"),
    kills(
        "knife",
        "** delete|purge|bulk",
        "nodes, clients or cookbooks are deleted",
    ),
    kills("salt|salt-call", "*", "hosts' files or state are removed")
        .with("file.remove cmd.run state.apply pkg.remove pkg.purge system.reboot system.shutdown"),
    kills("salt-key", "", "minions' keys are deleted").with("-d -D --delete --delete-all"),
    kills("vault", "kv delete|destroy", "secrets are deleted"),
    kills(
        "vault",
        "kv metadata delete",
        "secrets are deleted with all versions",
    ),
    kills("vault", "delete", "secrets or settings are deleted"),
    kills(
        "vault",
        "secrets|auth|audit|policy|lease|token|operator|namespace|plugin disable|delete|revoke|seal|step-down|rekey|rotate|deregister|unregister|generate-root|raft",
        "a part of the vault is disabled or revoked",
    ),
    kills(
        "vault",
        "lease|token revoke",
        "leases or tokens are revoked",
    ),
    kills(
        "vault",
        "operator seal|raft|rekey|rotate",
        "the vault is sealed or rekeyed",
    ),
    asks("vault", "kv put|patch", "secrets are replaced"),
    asks("vault", "write", "the vault's settings change"),
    asks("vault", "policy write|fmt", "the vault's settings change"),
    kills(
        "op",
        "item|vault|document|user|group|connect|service-account delete|remove|edit|revoke|suspend",
        "secrets or who may see them are deleted",
    ),
    kills(
        "doppler",
        "projects|environments|configs|secrets delete|rm|unset",
        "secrets or projects are deleted",
    ),
    kills("infisical", "secrets delete", "secrets are deleted"),
    kills(
        "bw|rbw",
        "delete|purge|remove",
        "stored secrets are deleted",
    ),
    kills(
        "pass|gopass",
        "rm|remove|delete",
        "stored secrets are deleted",
    ),
    kills("chamber", "delete", "secrets are deleted"),
    kills("sops", "", "secrets are written in the clear in place").with("--decrypt-in-place"),
    kills(
        "consul",
        "kv delete|leave|force-leave",
        "keys or members are deleted",
    ),
    kills(
        "consul",
        "kv|acl|config|services|operator|snapshot|namespace|partition|peering|intention delete|deregister|remove-peer|restore|remove",
        "keys, members or settings are deleted",
    ),
    kills("consul", "leave|force-leave", "a member leaves"),
    kills(
        "consul",
        "operator raft|autopilot|area remove-peer|delete",
        "a member is taken out",
    ),
    asks(
        "nomad",
        "alloc|allocation stop|restart|signal",
        "an allocation is stopped",
    ),
    kills(
        "consul",
        "acl token|policy|role|auth-method|binding-rule delete",
        "rights are deleted",
    ),
    kills(
        "boundary|waypoint",
        "** delete|destroy",
        "resources are deleted",
    ),
    kills(
        "zookeeper-shell|zkCli.sh|zkcli",
        "* delete|deleteall|rmr",
        "nodes are deleted",
    ),
    kills("nginx", "", "the server is stopped").with("stop quit"),
    kills("haproxy", "", "the server is stopped").with("-sf -st"),
    kills("apachectl|apache2ctl|httpd", "", "the server is stopped").with("stop graceful-stop"),
    kills("traefik", "delete", "settings are deleted"),
    kills("caddy", "stop", "the server is stopped"),
    kills(
        "certbot",
        "delete|revoke",
        "certificates are deleted or revoked",
    ),
    kills("acme.sh", "", "certificates are deleted or revoked")
        .with("--revoke --remove --uninstall"),
    kills(
        "pdnsutil",
        "delete-zone|delete-rrset|clear-zone|remove-*|delete-*",
        "DNS records are deleted",
    ),
    kills("rndc", "delzone|flush|stop|halt", "DNS zones are deleted"),
    kills("nsupdate", "", "DNS records change"),
    kills("deck", "reset", "the gateway's settings are deleted"),
    kills(
        "kong",
        "migrations reset",
        "the gateway's settings are deleted",
    ),
    kills("deck", "sync", "the gateway's settings are replaced"),
    kills(
        "deck",
        "gateway sync|reset|apply",
        "the gateway's settings are replaced",
    ),
    kills(
        "apigeecli|apigee",
        "** delete|undeploy",
        "API proxies are deleted",
    ),
    kills(
        "kong",
        "stop|migrations",
        "the gateway is stopped or migrated",
    ),
];
