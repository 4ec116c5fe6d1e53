//! Databases' migrations and applications' own commands on their data.

use super::{Row, asks, kills, tells};

/// The rows.
pub(super) const ROWS: &[Row] = &[
    asks("prisma", "db execute", "statements are run on the database"),
    asks("prisma", "migrate deploy|resolve", "the database changes"),
    kills(
        "aerich|piccolo|yoyo|tern|rambler|refinery|yuniql|grate|rh|evolve|dbup|bytebase",
        "downgrade|rollback|backwards|wipe|erase|clean|destroy",
        "migrations are rolled back",
    ),
    kills(
        "mikro-orm|mikro-orm-esm",
        "schema:drop|schema:fresh|migration:fresh|migration:down|database:drop",
        "the schema is dropped or rolled back",
    ),
    kills(
        "bin/console|console",
        "doctrine:schema:update|d:s:u",
        "the schema is changed by force",
    )
    .with("--force -f --complete"),
    kills(
        "bin/console|console",
        "doctrine:migrations:migrate|d:m:m first|prev|0",
        "migrations are rolled back",
    ),
    kills(
        "drush",
        "site:install|site-install|si|sqlq|sql:query",
        "the site's database is replaced",
    ),
    kills(
        "mvn|mvnw",
        "flyway:clean|flyway:undo|flyway:repair|liquibase:dropAll|liquibase:rollback*|*:flyway-maven-plugin*:clean|*:liquibase-maven-plugin*:dropAll",
        "a schema is emptied or rolled back",
    ),
    kills(
        "gradle|gradlew",
        "flywayClean|flywayUndo|flywayRepair|dropAll|rollback*|*:flywayClean|*:dropAll",
        "a schema is emptied or rolled back",
    ),
    kills(
        "sea-orm-cli|sea",
        "migrate fresh|refresh|reset|down",
        "migrations are rolled back",
    ),
    kills("sqitch", "revert|rebase", "migrations are rolled back"),
    kills("strapi", "import|transfer", "the site's data is replaced").with("--force"),
    asks(
        "dbt",
        "run-operation|clone",
        "a macro runs on the warehouse",
    ),
    kills(
        "edgedb|gel",
        "database|branch|instance|project drop|wipe|destroy|unlink",
        "a database is dropped",
    ),
    kills("convex", "import", "hosted data is replaced").with("--replace --replace-all"),
    kills("vacuumlo", "", "large objects are deleted").unless("-n --dry-run"),
    kills("celery", "control shutdown", "workers are shut down"),
    kills(
        "celery",
        "** control shutdown|terminate|revoke",
        "workers are shut down or tasks revoked",
    ),
    kills("swift", "delete", "objects are deleted"),
    asks(
        "supabase",
        "db push",
        "migrations run on the hosted database",
    )
    .unless("--dry-run --local"),
    asks(
        "supabase",
        "migration repair|squash|down",
        "the record of migrations changes",
    ),
    asks("bcp", "in", "rows are loaded into a table"),
    tells("kcat|kafkacat", "", "records are written to a topic").with("-P"),
];
