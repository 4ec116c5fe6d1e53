//! Clouds and hosting platforms: aws, gcloud, az, and their smaller relatives.

use super::{Row, asks, kills, sets, tells};

/// The rows.
pub(super) const ROWS: &[Row] = &[
    asks("aws", "logs put-retention-policy", "older logs are deleted"),
    asks(
        "gcloud",
        "container|sql clusters|instances resize",
        "nodes are taken away or added",
    ),
    // aws: `aws SERVICE VERB-noun`.
    kills("aws", "s3 rm", "objects in a bucket are deleted").unless("--dryrun"),
    kills("aws", "s3 rb", "a bucket is deleted"),
    kills(
        "aws",
        "s3 sync",
        "objects that are not in the source are deleted",
    )
    .with("--delete"),
    kills("aws", "s3 mv", "objects are moved out of a bucket").unless("--dryrun"),
    kills(
        "aws",
        "* delete-*|terminate-*|remove-*|deregister-*|purge-*|destroy-*|batch-delete-*|drop-*|reset-*|wipe-*|leave-*",
        "cloud resources are deleted",
    ),
    kills(
        "aws",
        "* admin-delete-*|admin-disable-*|bulk-delete-*|force-delete-*|release-address|release-hosts|cancel-key-deletion|schedule-key-deletion|disable-key",
        "cloud resources or keys are given up",
    ),
    kills(
        "aws",
        "* abort-multipart-upload|empty-*",
        "uploads are dropped",
    ),
    asks(
        "aws",
        "* stop-*|reboot-*|disable-*|detach-*|disassociate-*|unassign-*|revoke-*|cancel-*",
        "cloud resources are stopped or cut off",
    ),
    asks(
        "aws",
        "s3api put-bucket-policy|put-bucket-lifecycle-configuration|put-bucket-versioning|put-bucket-acl|put-public-access-block",
        "a bucket's protection changes",
    ),
    asks(
        "aws",
        "cloudformation update-stack|execute-change-set|deploy",
        "a stack is changed",
    )
    .with("--disable-rollback --no-fail-on-empty-changeset-never"),
    asks(
        "aws",
        "rds modify-db-instance|modify-db-cluster|restore-*|failover-*",
        "a database instance is changed",
    ),
    asks(
        "aws",
        "ecs update-service",
        "a service is scaled to nothing",
    )
    .with("--desired-count=0 0"),
    asks(
        "aws",
        "ec2 modify-instance-attribute",
        "a safeguard against termination is removed",
    )
    .with("--no-disable-api-termination"),
    asks(
        "aws",
        "dynamodb batch-write-item",
        "many items are written or deleted",
    ),
    sets(
        "aws",
        "ssm send-command|start-automation-execution",
        "commands run on machines, where no safety point reaches",
    ),
    asks(
        "aws",
        "iam put-*|attach-*|update-*|create-access-key",
        "who may do what changes",
    ),
    asks(
        "aws",
        "autoscaling|application-autoscaling update-auto-scaling-group|set-desired-capacity",
        "capacity changes",
    ),
    kills(
        "aws",
        "route53 change-resource-record-sets",
        "DNS records change",
    ),
    kills(
        "aws",
        "cloudfront create-invalidation",
        "a whole distribution's cache is dropped",
    ),
    kills("aws", "sqs purge-queue", "a queue's messages are deleted"),
    kills(
        "aws",
        "glacier|backup delete-*|abort-*|stop-*",
        "backups are deleted",
    ),
    kills("eb", "terminate", "an environment is terminated"),
    kills("sam", "delete", "a stack is deleted"),
    kills(
        "copilot",
        "delete|app|env|svc|job delete",
        "an application's parts are deleted",
    ),
    kills(
        "copilot",
        "app|env|svc|job|pipeline delete",
        "an application's parts are deleted",
    ),
    kills("amplify", "delete|remove", "a backend is deleted"),
    kills(
        "awslocal|cdklocal",
        "* delete-*|terminate-*|rb|rm",
        "local cloud resources are deleted",
    ),
    kills(
        "s3cmd",
        "del|rm|rb|expire",
        "objects or buckets are deleted",
    ),
    kills(
        "s3cmd",
        "sync",
        "objects that are not in the source are deleted",
    )
    .with("--delete-removed"),
    kills("s4cmd", "del|mv", "objects are deleted"),
    kills("s5cmd", "rm|rb|mv", "objects or buckets are deleted"),
    kills(
        "s5cmd",
        "sync",
        "objects that are not in the source are deleted",
    )
    .with("--delete"),
    // Google.
    kills(
        "gcloud",
        "** delete|destroy|remove|purge|reset|disable|abandon-instances|delete-instances|undelete-never",
        "cloud resources are deleted",
    ),
    kills(
        "gcloud",
        "** delete-*|bulk-delete",
        "cloud resources are deleted",
    )
    .unless("describe list"),
    kills("gcloud", "storage rm", "objects are deleted"),
    kills(
        "gcloud",
        "storage rsync",
        "objects that are not in the source are deleted",
    )
    .with("--delete-unmatched-destination-objects"),
    kills(
        "gcloud",
        "** remove-iam-policy-binding|set-iam-policy",
        "who may do what changes",
    ),
    asks(
        "gcloud",
        "** add-iam-policy-binding",
        "who may do what changes",
    ),
    asks(
        "gcloud",
        "** stop|suspend|cancel|rollback|failover|restore",
        "cloud resources are stopped or rolled back",
    ),
    kills(
        "gcloud",
        "sql instances|backups|databases restore-backup|delete|import",
        "a database is replaced",
    ),
    kills("gsutil", "rm|rb", "objects or buckets are deleted"),
    kills(
        "gsutil",
        "rsync",
        "objects that are not in the source are deleted",
    )
    .with("-d")
    .unless("-n"),
    asks(
        "gcloud",
        "pubsub subscriptions seek",
        "messages are dropped or sent again",
    ),
    asks("gcloud", "auth revoke", "who is logged in changes"),
    tells(
        "gcloud",
        "config unset|set",
        "a setting of the client changes",
    ),
    asks("gsutil", "mv", "objects are moved"),
    asks(
        "gsutil",
        "lifecycle|versioning|acl|iam set",
        "a bucket's protection changes",
    ),
    kills("bq", "rm", "a table or data set is deleted"),
    kills("bq", "cp|load", "a table is replaced").with("-f --replace --force"),
    kills(
        "cbt",
        "deletetable|deletefamily|deleterow|deleteallrows|deleteinstance|deletecluster",
        "Bigtable data is deleted",
    ),
    kills(
        "firebase",
        "firestore:delete|database:remove|hosting:disable|functions:delete|projects:delete|apps:delete|hosting:sites:delete|hosting:channel:delete|auth:import",
        "hosted data or functions are deleted",
    ),
    asks(
        "firebase",
        "deploy",
        "what was deployed is deleted by force",
    )
    .with("--force -f"),
    asks(
        "firebase",
        "database:set|database:update",
        "hosted data is replaced",
    ),
    // Azure.
    kills(
        "az",
        "** delete|purge|remove|delete-batch|destroy|wipe|deallocate|clear|delete-source|revoke|delete-from-*",
        "cloud resources are deleted",
    ),
    kills("az", "** delete-*", "cloud resources are deleted").unless("show list"),
    kills(
        "az",
        "storage blob sync",
        "blobs that are not in the source are deleted",
    )
    .with("--delete-destination"),
    asks(
        "az",
        "** stop|restart|failover|restore|disable",
        "cloud resources are stopped or replaced",
    ),
    asks(
        "az",
        "deployment group|sub create",
        "resources that no template names are deleted",
    )
    .with("--mode=Complete Complete"),
    kills("azcopy", "remove|rm", "blobs are deleted"),
    kills(
        "azcopy",
        "sync",
        "blobs that are not in the source are deleted",
    )
    .with("--delete-destination --delete-destination=true"),
    kills("azd", "down", "everything that was deployed is deleted"),
    kills("func", "azure functionapp delete", "a function is deleted"),
    // Others.
    kills(
        "doctl",
        "** delete|rm|d|remove|destroy|purge-cache|run-garbage-collection|delete-manifest|delete-tag|delete-repository",
        "cloud resources are deleted",
    ),
    kills(
        "linode-cli",
        "** delete|rm|remove|rebuild|reset",
        "cloud resources are deleted",
    ),
    kills(
        "hcloud",
        "* delete|rebuild|reset|remove-*",
        "cloud resources are deleted",
    ),
    asks(
        "hcloud",
        "* poweroff|shutdown|disable-protection",
        "servers are stopped or lose their protection",
    ),
    kills(
        "vultr-cli|vultr",
        "** delete|destroy|reinstall",
        "cloud resources are deleted",
    ),
    kills(
        "scw",
        "** delete|terminate|purge|reset",
        "cloud resources are deleted",
    ),
    kills(
        "oci",
        "** delete|terminate|bulk-delete|purge|schedule-deletion",
        "cloud resources are deleted",
    ),
    kills(
        "ibmcloud",
        "** delete|rm|remove|delete-*|service-instance-delete|sl-cancel",
        "cloud resources are deleted",
    ),
    kills(
        "openstack",
        "** delete|purge|rebuild",
        "cloud resources are deleted",
    ),
    kills(
        "nova|cinder|neutron|glance",
        "delete|*-delete|force-delete",
        "cloud resources are deleted",
    ),
    kills(
        "exo|civo|upctl|katapult|packet|metal",
        "** delete|remove|rm|destroy|terminate",
        "cloud resources are deleted",
    ),
    kills(
        "ossutil|ossutil64|obsutil|coscmd|coscli|bcecmd|qshell|tosutil",
        "rm|rb|rmdir|delete|del|batchdelete|abort|mv|move",
        "objects or buckets are deleted",
    ),
    kills(
        "aliyun|tccli|yc|ovhcloud",
        "** Delete*|delete|Release*|Terminate*|rm",
        "cloud resources are deleted",
    ),
    kills(
        "heroku",
        "apps:destroy|apps:delete|destroy|pg:reset|addons:destroy|domains:remove|pipelines:destroy|container:rm|config:unset|redis:reset|pg:kill|pg:killall|pg:credentials:destroy|keys:remove|keys:clear|drains:remove|spaces:destroy|access:remove|pg:copy|pg:pull|pg:push|pg:restore|pg:backups:delete",
        "an application, its data or its settings are deleted",
    ),
    asks(
        "heroku",
        "ps:stop|ps:kill|maintenance:on|rollback|releases:rollback|ps:scale",
        "an application is stopped or rolled back",
    ),
    kills(
        "fly|flyctl",
        "destroy|apps|volumes|machine|machines|m|vol|volume|postgres|redis|certs|ips|secrets|storage|mpg|wireguard|tokens|extensions destroy|delete|rm|remove|release|unset|revoke|detach",
        "an application, volume or secret is deleted",
    ),
    kills("fly|flyctl", "destroy", "an application is deleted"),
    asks(
        "fly|flyctl",
        "scale|suspend|machine|apps count|stop|kill|suspend",
        "machines are stopped",
    ),
    kills(
        "vercel|vc",
        "rm|remove|env|domains|dns|certs|alias|secrets|project|projects|blob rm|remove|delete|del",
        "a deployment, domain or setting is deleted",
    ),
    kills("vercel|vc", "rm|remove", "a deployment is deleted"),
    kills(
        "netlify|ntl",
        "sites:delete|env:unset|blobs:delete|functions:delete|addons:delete|unlink",
        "a site, its data or its settings are deleted",
    ),
    kills(
        "wrangler",
        "delete|kv|r2|d1|secret|queues|pages|vectorize|hyperdrive|dispatch-namespace|durable-objects|tail|workflows|kv:namespace|kv:key|kv:bulk|d1|r2 delete|rm|remove|purge|bulk",
        "a worker or its data is deleted",
    ),
    kills("wrangler", "delete", "a worker is deleted"),
    kills(
        "wrangler",
        "kv|r2|d1|secret|queues|pages|vectorize|hyperdrive|workflows * delete|purge|remove|rm",
        "a worker's data is deleted",
    ),
    kills(
        "wrangler",
        "kv key|namespace|bulk delete",
        "a worker's data is deleted",
    ),
    kills(
        "wrangler",
        "r2 object|bucket delete|put",
        "a worker's data is deleted",
    ),
    kills(
        "wrangler",
        "d1 time-travel restore",
        "a database goes back in time",
    ),
    kills("databricks", "fs rm", "files of a workspace are deleted"),
    kills(
        "databricks",
        "** delete|permanent-delete|permanent-delete-*|delete-*",
        "parts of a workspace are deleted",
    ),
    kills(
        "planetscale|pscale",
        "** delete|destroy|reset|demote",
        "a database or branch is deleted",
    ),
    asks(
        "wrangler",
        "rollback",
        "a worker goes back to an earlier version",
    ),
    kills(
        "railway",
        "down|delete|unlink|environment|volume delete|remove",
        "a service or its data is deleted",
    ),
    kills("railway", "down|delete", "a service is deleted"),
    kills(
        "render",
        "services|postgres|kv delete|suspend",
        "a service is deleted",
    ),
    kills(
        "supabase",
        "projects|functions|branches|secrets|domains|sso|storage|db delete|unset|reset|remove|rm",
        "a project's data or functions are deleted",
    ),
    kills(
        "neonctl|neon",
        "projects|branches|databases|roles delete|restore|reset",
        "a database is deleted or replaced",
    ),
    kills(
        "pscale",
        "database|branch|password|deploy-request|service-token|backup delete",
        "a database or branch is deleted",
    ),
    kills(
        "turso",
        "db|group|org destroy|delete|rm",
        "a database is deleted",
    ),
    kills(
        "atlas",
        "** delete|terminate|remove",
        "a cluster or its data is deleted",
    ),
    kills(
        "dokku",
        "apps:destroy|*:destroy|*:unlink|ps:stop|config:unset|domains:clear",
        "an application or its data is deleted",
    ),
    kills(
        "cf",
        "delete|delete-*|unbind-service|purge-*|d|ds|unset-env|rename-never",
        "an application or service is deleted",
    ),
    kills("sls|serverless", "remove", "a service is taken down"),
    kills("sst", "remove", "a stack is deleted"),
    kills(
        "modal",
        "app|volume|secret|dict|queue stop|delete|rm|clear",
        "an application or its data is deleted",
    ),
    kills(
        "convex",
        "data|env clear|remove|unset",
        "hosted data is replaced",
    ),
    kills("appwrite", "** delete*", "hosted data is deleted"),
    kills(
        "cloudflared",
        "tunnel delete|cleanup",
        "a tunnel is deleted",
    ),
    kills(
        "flarectl",
        "** delete|d|purge",
        "zones, records or caches are deleted",
    ),
    kills(
        "fastly",
        "** delete|purge|purge-all|remove",
        "services, settings or caches are deleted",
    ),
    kills("fastly", "purge", "a cache is emptied"),
    asks(
        "fastly",
        "service-version activate|deactivate",
        "a service's version changes",
    ),
    kills(
        "ngrok|tailscale",
        "** delete|logout|down",
        "a network is cut off",
    ),
    kills(
        "gh",
        "repo|release|run|secret|variable|gist|issue|label|ssh-key|gpg-key|cache|codespace|cs|workflow|project|extension|ruleset|environment|auth delete|remove|archive|disable|delete-asset|delete-field|item-delete|rm",
        "a repository, release or setting is deleted",
    ),
    kills("gh", "repo edit", "who may see a repository changes").with("--visibility"),
    kills("gh", "repo sync", "a branch is replaced by force").with("--force"),
    kills("gh", "api", "a server is told to delete something")
        .with("DELETE -XDELETE --method=DELETE"),
    tells(
        "gh",
        "pr|issue close|lock|unpin",
        "somebody's work is closed",
    ),
    asks("gh", "pr merge", "a branch is merged on the server"),
    asks("gh", "api", "a server is told to change something")
        .with("POST PUT PATCH -XPOST -XPUT -XPATCH --method=POST --method=PUT --method=PATCH"),
    asks("gh", "release create|upload|edit", "a release is published")
        .unless("--draft -d --draft=true"),
    asks("gh", "issue transfer", "an issue leaves its repository"),
    tells(
        "gh",
        "pr|issue|workflow create|comment|review|run|edit",
        "others are told",
    ),
    asks(
        "glab",
        "mr merge|accept",
        "a branch is merged on the server",
    ),
    asks("glab", "api", "a server is told to change something")
        .with("POST PUT PATCH -XPOST -XPUT -XPATCH --method=POST --method=PUT --method=PATCH"),
    asks("glab", "release create|upload", "a release is published"),
    tells(
        "glab",
        "mr|issue create|note|update|close",
        "others are told",
    ),
    asks(
        "gh",
        "secret|variable|auth set|logout|refresh",
        "secrets or who is logged in change",
    ),
    tells("gh", "run|workflow cancel", "a run is cancelled"),
    kills(
        "glab",
        "repo|project|release|variable|issue|mr|label|ssh-key|deploy-key|schedule|ci|snippet|cluster|token delete|remove|purge|archive|revoke|rm",
        "a project, release or setting is deleted",
    ),
    kills("glab", "api", "a server is told to delete something")
        .with("DELETE -XDELETE --method=DELETE"),
    kills(
        "hub",
        "delete|release delete",
        "a repository or release is deleted",
    ),
    kills("hub", "delete", "a repository is deleted"),
    kills(
        "tea|gitea|forgejo",
        "** delete|rm|d",
        "a repository or setting is deleted",
    ),
    kills("bitbucket|bb", "** delete", "a repository is deleted"),
    kills(
        "circleci",
        "context|orb|runner|project|pipeline delete|remove-secret|unlist-from-registry|delete-secret",
        "a context, secret or orb is deleted",
    ),
    kills(
        "circleci",
        "context|runner * delete|remove",
        "a context or runner is deleted",
    ),
    kills(
        "jenkins-cli|jenkins",
        "delete-*|safe-shutdown|shutdown|disable-job|clear-queue|offline-node|quiet-down|groovy",
        "jobs, builds or nodes are deleted",
    ),
    kills(
        "buildkite-agent|bk",
        "stop|delete|cluster|pipeline",
        "agents or pipelines are stopped",
    ),
    kills(
        "travis",
        "env|cache|repositories|disable|settings unset|clear|--delete",
        "settings or caches are deleted",
    ),
    kills("travis", "cache", "caches are deleted").with("--delete -d"),
    kills(
        "drone|woodpecker|woodpecker-cli",
        "** rm|remove|delete|purge|disable|kill",
        "repositories, secrets or builds are deleted",
    ),
    sets(
        "tailscale|zerotier-cli",
        "down|leave|logout",
        "a network is left",
    ),
];
