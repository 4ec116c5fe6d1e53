//! Hosted services with a command line: payment, mail, monitoring, flags, content.

use super::{Row, asks, kills};

/// The rows.
pub(super) const ROWS: &[Row] = &[
    kills(
        "java",
        "** delete-job|delete-builds|delete-node|delete-view|delete-credentials|safe-shutdown",
        "jobs, builds or nodes are deleted",
    ),
    kills(
        "gitlab-runner",
        "unregister|reset-token|stop|uninstall",
        "a runner is taken out",
    ),
    kills(
        "stripe",
        "** delete|cancel|refund|void|archive|deactivate|close",
        "payments, customers or products are deleted",
    ),
    kills(
        "stripe",
        "refunds|payouts|transfers|charges create|capture|reverse",
        "money moves",
    ),
    kills("stripe", "delete|post", "a payment account changes"),
    kills(
        "braintree|square|paypal",
        "** delete|cancel|refund|void",
        "payments or customers are deleted",
    ),
    kills(
        "twilio",
        "** remove|delete|release|remove:*|*:remove|*:delete|*:release",
        "numbers, services or recordings are deleted",
    ),
    kills(
        "sendgrid|mailgun|postmark",
        "** delete|remove|purge",
        "mail settings are deleted",
    ),
    kills(
        "datadog|dog|datadog-ci",
        "** delete|delete_all|remove|mute_all",
        "monitors or dashboards are deleted",
    ),
    kills(
        "newrelic",
        "** delete|remove",
        "monitoring settings are deleted",
    ),
    kills(
        "pd|pagerduty",
        "** delete|remove|disable",
        "on-call settings are deleted",
    ),
    kills(
        "sentry-cli",
        "** delete|remove|archive",
        "releases or files are deleted",
    ),
    kills(
        "splunk",
        "clean|remove|stop|offline",
        "indexed data is deleted",
    ),
    kills(
        "promtool|amtool|mimirtool|cortextool|logcli|grafana-cli|grafana-cli|grr",
        "** delete|expire|remove|reset-admin-password|clean-tombstones",
        "monitoring data or settings are deleted",
    ),
    kills(
        "ldcli|ldc|launchdarkly",
        "** delete|archive|remove",
        "flags or projects are deleted",
    ),
    kills(
        "flipt|unleash|split|flagsmith|configcat",
        "** delete|archive|remove|kill|drop",
        "flags are deleted",
    ),
    kills(
        "contentful",
        "space|environment|content-type|organization delete|import|reset",
        "content is deleted",
    ),
    kills(
        "sanity",
        "dataset|documents|cors|hook|backup delete|import",
        "content is deleted",
    )
    .with("delete --replace"),
    kills(
        "shopify",
        "theme|app|store delete|remove|push",
        "a shop's theme or application is deleted",
    )
    .with("delete remove --force --live"),
    kills(
        "auth0",
        "** delete|rm|reset|revoke|rotate*",
        "applications, users or rules are deleted",
    ),
    kills(
        "okta|ory|keycloak|kcadm.sh|kcadm",
        "** delete|deactivate|remove-*|revoke",
        "users or applications are deleted",
    ),
    kills(
        "ldapdelete|ldapmodify|ldapmodrdn|ldappasswd",
        "*",
        "directory entries are deleted or changed",
    )
    .unless("-n"),
    kills(
        "ipa",
        "*-del|*-remove|*-disable|server-del",
        "directory entries are deleted",
    ),
    kills(
        "samba-tool",
        "** delete|remove|demote|disable",
        "directory entries are deleted",
    ),
    kills(
        "snyk|sonar-scanner|codecov",
        "** delete|unmonitor",
        "projects are deleted",
    ),
    kills(
        "eas|expo",
        "** delete|destroy|revoke|unpublish",
        "builds, updates or credentials are deleted",
    ),
    kills(
        "fastlane",
        "nuke|match|deliver|produce",
        "certificates or releases are deleted",
    )
    .with("nuke reject delete"),
    kills("fastlane", "match nuke", "certificates are revoked"),
    kills(
        "appcenter|codepush",
        "** delete|clear|remove|rollback",
        "applications or releases are deleted",
    ),
    kills(
        "huggingface-cli|hf",
        "delete-cache|repo|repo-files delete|rm",
        "repositories or cached models are deleted",
    ),
    kills(
        "wandb|mlflow|clearml",
        "** delete|gc|destroy|remove|rm|prune",
        "experiments or data are deleted",
    ),
    kills("dvc", "gc|destroy|remove", "data versions are deleted").unless("--dry"),
    kills("ollama", "rm", "a model is deleted"),
    asks(
        "slack|discord|teams",
        "** delete|archive|remove",
        "channels or messages are deleted",
    ),
    kills(
        "jira|linear|acli",
        "** delete|archive|bulk-delete",
        "issues or projects are deleted",
    ),
    kills(
        "npm",
        "dist-tag|owner|access|team|token|org|profile|hook|star rm|remove|revoke|destroy|ls-never|delete|set-password",
        "who may publish a package, or its tags, change",
    ),
    kills(
        "npm",
        "owner|access|team|token|dist-tag|org rm|remove|revoke|destroy",
        "who may publish a package, or its tags, change",
    ),
    asks(
        "npm",
        "owner|dist-tag|access add|set|grant|public|restricted",
        "who may publish a package, or its tags, change",
    ),
    kills(
        "yarn",
        "npm tag|publish remove",
        "a package is published or its tags change",
    ),
    kills(
        "yarn",
        "npm publish",
        "a package is published for the world",
    ),
    kills("cargo", "owner", "who may publish a crate changes").with("--add --remove -a -r"),
    kills("gem", "owner", "who may publish a gem changes").with("-r --remove -a --add"),
    kills(
        "mvn|mvnw|./mvnw",
        "** deploy|release:*|site-deploy",
        "artefacts are published",
    ),
    kills(
        "gradle|gradlew",
        "** publish|publishToMavenCentral|uploadArchives|closeAndReleaseRepository",
        "artefacts are published",
    ),
    kills(
        "pod",
        "trunk delete|deprecate|push",
        "a pod is published or taken back",
    ),
    kills(
        "vsce|ovsx",
        "publish|unpublish|delete-publisher",
        "an extension is published or taken back",
    ),
    kills(
        "jf|jfrog",
        "** delete|del|rm|delete-props|rdel|repo-delete",
        "artefacts are deleted",
    ),
    kills(
        "skopeo|crane|regctl|oras|reg",
        "delete|rm|** delete|rm",
        "images in a registry are deleted",
    ),
    kills(
        "crane|regctl|oras",
        "** delete|rm",
        "images in a registry are deleted",
    ),
];
