//! Publication and deployment: what the world or a production server would get.

use super::{Row, asks, kills, tells};

/// Programs that put an application where others use it.
const DEPLOYERS: &str = "sam|serverless|sls|sst|fly|flyctl|vercel|vc|netlify|ntl|wrangler|firebase|railway|render|chalice|zappa|eb|amplify|copilot|kamal|surge|deployctl|encore|shuttle|cargo-shuttle|modal|werf|waypoint|azd|func|cf|heroku|supabase|appwrite|mup|dokku|caprover|render-cli|koyeb|northflank|zeabur|cyclic|begin|arc|architect|nanocl|gigalixir|platform|upsun";

/// The rows.
pub(super) const ROWS: &[Row] = &[
    kills("gradle|gradlew", "publish*|*:publish*|closeAndRelease*|uploadArchives|bintrayUpload|jreleaser*|appDistributionUpload*", "a package is published for the world").unless("publishToMavenLocal *:publishToMavenLocal -m"),
    kills("sbt|mill", "publish|publishSigned|+publish|+publishSigned|*/publish|*/publishSigned|release|sonatypeRelease|sonatypeBundleRelease|ci-release|*.publish", "a package is published for the world"),
    kills("lein|boot", "deploy|release", "a package is published for the world"),
    kills("mix", "hex.publish|hex.retire|hex.owner", "a package is published or taken back"),
    kills("rebar3", "hex publish|retire|cut", "a package is published or taken back"),
    kills("setup.py", "** upload|register|upload_docs", "a package is published for the world"),
    kills("cabal|stack|luarocks|nimble|vsce|ovsx|gleam|elm|spago|conan|raco|jsr|haxelib|charmcraft|snapcraft|jreleaser|dune-release|web-ext|shards|mops|forge", "upload|publish|submit|release|push|unpublish|retire|full-release|deploy|sign", "a package is published or taken back"),
    kills("conan", "remove", "packages are removed"),
    kills("dart|flutter|pub", "pub publish", "a package is published for the world"),
    kills("pub", "publish", "a package is published for the world"),
    kills("cargo|cargo-release", "release", "a package is published for the world").with("--execute -x"),
    asks("npm", "profile set|enable-2fa|disable-2fa", "an account's settings change"),
    tells("npm|yarn|pnpm", "config|c set|delete|rm|edit", "a package manager's settings change"),
    // Deployments.
    tells(DEPLOYERS, "deploy|up|push|publish|launch", "what others use is replaced by this version"),
    tells(DEPLOYERS, "", "production is replaced by this version")
        .with("--prod --production -prod")
        .unless("ls list inspect env logs log whoami pull build dev info status open alias link config print package secrets"),
    asks("cap|mina|dep|fab", "production|prod deploy*|*:deploy*", "production is replaced by this version"),
    asks("mina|dep|fab|cap", "deploy|deploy:*", "what others use is replaced by this version"),
    kills("kamal", "remove|destroy", "an application is removed from its servers"),
    kills("kamal", "accessory|app|proxy remove|reboot", "a part of an application is removed from its servers"),
    asks("kamal", "app|proxy|accessory stop", "an application is stopped"),
    asks("kamal", "rollback|setup", "an application is replaced"),
    kills("zappa", "undeploy", "an application is taken down"),
    asks("zappa", "rollback", "an application goes back to an earlier version"),
    tells("gcloud", "** deploy", "what others use is replaced by this version"),
    tells("aws", "lambda update-function-code|update-function-configuration|publish-version", "a function is replaced by this version"),
    tells("aws", "cloudformation deploy|update-stack", "a stack is changed"),
    tells("aws", "s3 cp|sync", "objects are written to a bucket").with("s3://*"),
    tells("packer", "build", "machine images are made"),
    asks("gh", "repo rename|transfer", "a repository gets another name or owner"),
    asks("gh", "pr close", "a branch is deleted with the pull request").with("-d --delete-branch"),
    tells("gh", "extension|ext install|upgrade", "a program of somebody's is installed"),
    kills("gh", "api graphql", "a server is told to delete something").with("*mutation*elete* *mutation*emove* *mutation*archive*"),
    asks("gh", "api graphql", "a server is told to change something").with("*mutation*"),
];
