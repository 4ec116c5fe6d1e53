//! Data stores: database tools, queues, search engines, object stores, backups.

use super::{Row, asks, kills, sets, tells};

/// The rows.
pub(super) const ROWS: &[Row] = &[
    kills(
        "dropdb|dropuser|droplang",
        "",
        "a database or user is dropped",
    ),
    kills("pg_dropcluster", "", "a database cluster is dropped"),
    kills("pg_resetwal|pg_resetxlog", "", "a database's log is reset").unless("-n"),
    kills(
        "pg_restore",
        "",
        "objects are dropped before they are restored",
    )
    .with("-c --clean --if-exists -C --create"),
    tells("pg_restore", "", "a backup is read into a database"),
    kills(
        "pg_ctl|pg_ctlcluster",
        "stop|promote|kill|restart",
        "a database server is stopped",
    ),
    kills(
        "aql|asinfo|asadm|aerospike-asadm",
        "",
        "a namespace or set is emptied",
    )
    .with("*truncate* *TRUNCATE* *drop* *DROP*"),
    kills("influxd", "restore", "a database is replaced by a backup"),
    kills("initdb", "", "a database directory is made anew"),
    kills(
        "pg_archivecleanup|pg_rewind|pg_surgery",
        "",
        "a database's files are cut",
    ),
    kills(
        "mysqladmin|mariadb-admin",
        "drop|shutdown|flush-*|kill|password|stop-*|reset-*",
        "a database is dropped or the server stopped",
    ),
    kills(
        "mysql_install_db|mysqld",
        "",
        "a database directory is made anew",
    )
    .with("--initialize --initialize-insecure"),
    kills(
        "mysqlimport|mariadb-import",
        "",
        "tables are emptied before they are filled",
    )
    .with("--delete -d --replace -r"),
    kills(
        "mongorestore",
        "",
        "collections are dropped before they are restored",
    )
    .with("--drop"),
    kills("mongoimport", "", "a collection is dropped or replaced")
        .with("--drop --mode=delete --mode=upsert"),
    kills(
        "nodetool",
        "removenode|decommission|cleanup|clearsnapshot|assassinate|drain|truncatehints|stopdaemon|garbagecollect|disablegossip",
        "a node or its data is removed",
    ),
    kills("cassandra-stress", "", "a cluster is loaded"),
    kills(
        "couchdb|couchbase-cli",
        "bucket-delete|bucket-flush|node-reset|user-manage|failover|server-remove|rebalance",
        "buckets or nodes are deleted",
    ),
    kills("cbbackupmgr", "remove", "backups are deleted"),
    kills(
        "influx",
        "delete|bucket|org|task|user|auth|remote|replication delete|remove",
        "a bucket or its data is deleted",
    ),
    kills("influx", "delete", "data is deleted"),
    kills("etcd|rqlite|dgraph", "drop|delete", "data is deleted"),
    kills("surreal", "remove", "data is deleted"),
    kills(
        "cockroach",
        "node|sql|quit decommission|drain",
        "a node is taken out",
    ),
    kills(
        "rethinkdb|neo4j-admin|neo4j",
        "** drop|delete|unbind|overwrite|load|restore",
        "a database is replaced",
    ),
    kills(
        "memcached-tool|memcflush|memcrm|memflush",
        "",
        "cached data is deleted",
    ),
    kills(
        "prisma",
        "migrate reset",
        "the database is dropped and made anew",
    ),
    kills("prisma", "db push", "data is dropped to fit the schema")
        .with("--accept-data-loss --force-reset"),
    kills(
        "sequelize|sequelize-cli",
        "db:drop|db:migrate:undo*|db:seed:undo*",
        "a database is dropped or rolled back",
    ),
    kills(
        "knex",
        "migrate:rollback|migrate:down|migrate:unlock",
        "migrations are rolled back",
    ),
    kills(
        "typeorm",
        "schema:drop|migration:revert|schema:sync",
        "the schema is dropped or replaced",
    ),
    kills(
        "drizzle-kit",
        "drop|push",
        "the schema is dropped or replaced",
    )
    .with("--force --accept-data-loss"),
    kills("drizzle-kit", "drop", "a migration is dropped"),
    kills(
        "flyway",
        "clean|undo|repair",
        "every object of a schema is dropped",
    ),
    kills(
        "liquibase",
        "drop-all|dropAll|rollback|rollback-*|rollbackCount|clear-checksums|rollback-count",
        "every object of a schema is dropped, or changes rolled back",
    ),
    kills("alembic", "downgrade|stamp", "migrations are rolled back").unless("--sql"),
    kills(
        "goose",
        "down|reset|down-to|redo",
        "migrations are rolled back",
    ),
    kills(
        "goose",
        "* * down|reset|down-to|redo",
        "migrations are rolled back",
    ),
    kills("migrate", "down|drop|force", "migrations are rolled back"),
    kills(
        "dbmate",
        "drop|down|rollback",
        "a database is dropped or rolled back",
    ),
    kills(
        "sqlx",
        "database|migrate drop|reset|revert",
        "a database is dropped or rolled back",
    ),
    kills(
        "diesel",
        "database|migration reset|revert|redo|drop",
        "a database is dropped or rolled back",
    ),
    kills(
        "atlas",
        "schema clean|apply",
        "a schema is emptied or replaced",
    )
    .with("clean --auto-approve"),
    kills(
        "rails|rake|bin/rails",
        "db:drop*|db:reset|db:migrate:reset|db:schema:load|db:purge|db:truncate_all|db:rollback|db:seed:replant|db:migrate:down|db:migrate:redo|db:structure:load|db:setup|db:fixtures:load",
        "the database is dropped, emptied or rolled back",
    ),
    kills(
        "manage.py|django-admin",
        "flush|reset_db|dropdb|reset_schema|clear_cache|delete_*|remove_*",
        "the database is emptied",
    ),
    kills(
        "manage.py|django-admin",
        "migrate * zero",
        "an application's tables are dropped",
    ),
    asks(
        "manage.py|django-admin",
        "loaddata|clearsessions|remove_stale_contenttypes",
        "data is loaded or removed",
    ),
    kills(
        "artisan",
        "migrate:fresh|migrate:reset|migrate:refresh|migrate:rollback|db:wipe|queue:flush|queue:clear|schema:dump|telescope:clear|horizon:clear|cache:forget",
        "the database or queue is emptied or rolled back",
    ),
    tells(
        "artisan",
        "cache:clear|config:clear|view:clear|route:clear|optimize:clear",
        "caches are emptied",
    ),
    kills(
        "bin/console|console",
        "doctrine:database:drop|doctrine:schema:drop|doctrine:fixtures:load|d:d:d|d:s:d|messenger:failed:remove",
        "the database is dropped or emptied",
    ),
    kills(
        "wp",
        "db drop|reset|clean|import|query",
        "the site's database is dropped or replaced",
    ),
    kills(
        "wp",
        "post|user|plugin|theme|term|comment|site|option|media|menu|role|cap|widget delete|uninstall|empty|reset|remove",
        "parts of the site are deleted",
    ),
    kills("wp", "search-replace", "the site's data is rewritten").unless("--dry-run --export"),
    kills(
        "drush",
        "sql-drop|sql:drop|site-install|si|entity:delete|pm-uninstall|pm:uninstall|sql-sync|sql:sync",
        "the site's database is dropped or replaced",
    ),
    kills("flask", "db downgrade", "migrations are rolled back").unless("--sql"),
    kills(
        "mix",
        "ecto.drop|ecto.reset|ecto.rollback",
        "the database is dropped or rolled back",
    ),
    kills(
        "bundle",
        "exec rails|rake db:drop*|db:reset",
        "the database is dropped",
    ),
    kills(
        "dotnet",
        "ef database drop|update",
        "the database is dropped",
    )
    .with("drop"),
    kills("dotnet", "ef migrations remove", "a migration is removed"),
    kills(
        "dotnet",
        "nuget delete",
        "a published package is taken back",
    ),
    kills(
        "dotnet|nuget",
        "nuget|push push",
        "a package is published for the world",
    ),
    kills(
        "nuget",
        "push|delete",
        "a package is published or taken back",
    ),
    kills("dbt", "run|build|seed", "tables are rebuilt from nothing").with("--full-refresh -f"),
    kills(
        "airflow",
        "db|dags|variables|pools|connections|users|tasks reset|delete|clear|clean|drop-archived",
        "workflow data is deleted",
    ),
    kills(
        "prefect|dagster",
        "** delete|reset|wipe|purge",
        "workflow data is deleted",
    ),
    kills("superset", "reset|db", "data is reset"),
    kills(
        "supabase",
        "db reset|push|remote",
        "the database is dropped and made anew",
    )
    .with("reset --include-all"),
    kills("supabase", "stop", "local data is deleted").with("--no-backup"),
    kills(
        "hasura",
        "migrate|metadata apply|clear|delete|squash",
        "migrations are rolled back",
    )
    .with("--down clear delete"),
    // Queues.
    kills("kafka-topics|kafka-topics.sh", "", "a topic is deleted").with("--delete"),
    kills(
        "kafka-delete-records|kafka-delete-records.sh",
        "",
        "records are deleted",
    ),
    kills(
        "kafka-consumer-groups|kafka-consumer-groups.sh",
        "",
        "a group is deleted or moved",
    )
    .with("--delete --reset-offsets --delete-offsets"),
    kills("kafka-configs|kafka-configs.sh", "", "settings change").with("--delete-config --alter"),
    kills("kafka-acls|kafka-acls.sh", "", "rights are removed").with("--remove"),
    kills(
        "kafka-storage|kafka-storage.sh",
        "format",
        "a broker's storage is formatted",
    ),
    kills(
        "kafka-leader-election|kafka-reassign-partitions|kafka-reassign-partitions.sh",
        "",
        "partitions move",
    )
    .with("--execute --cancel"),
    kills(
        "kafka-streams-application-reset|kafka-streams-application-reset.sh",
        "",
        "an application's state is reset",
    ),
    kills(
        "rpk",
        "topic|group|cluster|acl|user|security delete|trim-prefix|offset-delete|reset",
        "topics or groups are deleted",
    ),
    kills("kcat|kafkacat", "", "records are deleted").with("--delete"),
    kills(
        "rabbitmqctl",
        "delete_queue|delete_vhost|delete_user|purge_queue|reset|force_reset|stop_app|stop|forget_cluster_node|shutdown|clear_*|force_boot|delete_*|rotate_logs",
        "queues, users or nodes are deleted",
    ),
    kills(
        "rabbitmqadmin",
        "delete|purge|close",
        "queues or exchanges are deleted",
    ),
    kills(
        "nats",
        "stream|str|s|consumer|con|kv|object|account|server rm|delete|del|purge|rmm|d|cluster|seal",
        "streams or their messages are deleted",
    ),
    kills(
        "nsq_stat|nsqadmin|pulsar-admin",
        "** delete|unload|terminate|clear-backlog|skip-all|expire-*|delete-partitioned-topic",
        "topics are deleted",
    ),
    kills("celery", "* purge|control", "queued tasks are deleted"),
    kills("celery", "purge", "queued tasks are deleted").with("-f"),
    kills("celery", "** purge|amqp", "queued tasks are deleted"),
    kills("rq", "empty|requeue-never", "queued jobs are deleted"),
    kills("sidekiqctl|sidekiq", "stop|quiet", "workers are stopped"),
    kills(
        "temporal|tctl",
        "** delete|terminate|reset|cancel",
        "workflows are ended",
    ),
    // Search.
    kills(
        "curator|curator_cli",
        "delete_indices|delete-indices|delete_snapshots|close|*",
        "indices are deleted",
    )
    .with("delete_indices delete-indices delete_snapshots"),
    kills(
        "elasticsearch-node|elasticsearch-keystore|opensearch-keystore",
        "remove|unsafe-bootstrap|detach-cluster|repurpose|remove-settings|remove-customs",
        "a node's state is cut",
    ),
    kills("algolia", "** delete|clear|remove", "an index is deleted"),
    kills("meilisearch", "", "the database is reset")
        .with("--import-dump --ignore-dump-if-db-exists-never"),
    kills("solr", "delete|stop|zk", "a core is deleted"),
    // Object stores and copies.
    kills(
        "mc",
        "rm|rb|mirror|admin|undo|batch|ilm|replicate|event",
        "objects or buckets are deleted",
    )
    .with("--force --recursive -r --remove --dangerous remove rm"),
    kills("mc", "rm|rb", "objects or buckets are deleted"),
    kills(
        "rclone",
        "delete|deletefile|purge|rmdirs|rmdir|cleanup|dedupe",
        "files on a remote are deleted",
    )
    .unless("-n --dry-run -i --interactive"),
    kills(
        "rclone",
        "sync|move|moveto|bisync",
        "files that are not in the source are deleted or moved",
    )
    .unless("-n --dry-run -i --interactive"),
    kills(
        "rclone",
        "config delete|disconnect",
        "a remote's settings are deleted",
    ),
    kills("lftp|ncftp|ftp", "", "files on a server are deleted")
        .with("rm?* *mrm* *mirror*--delete* *rmdir* *;?rm?*"),
    kills(
        "b2",
        "delete-*|rm|sync|hide-*|cancel-*",
        "objects or buckets are deleted",
    )
    .with("--delete delete-* rm hide-* cancel-*"),
    kills(
        "ipfs",
        "repo|pin|files|key|name rm|gc",
        "pinned data is released",
    ),
    kills("hdfs", "dfs", "files are deleted").with("-rm -rmr -rmdir -expunge -truncate"),
    kills("hadoop", "fs", "files are deleted").with("-rm -rmr -rmdir -expunge -truncate"),
    kills(
        "hdfs",
        "namenode|dfsadmin",
        "a file system is formatted or changed",
    )
    .with("-format -rollback -finalizeUpgrade -safemode"),
    // Backups.
    kills(
        "restic",
        "forget|prune|rewrite|repair",
        "snapshots are deleted",
    )
    .unless("--dry-run -n"),
    kills("restic", "key|unlock remove", "a key is removed"),
    asks("restic", "restore", "files are replaced by a backup's")
        .unless("/tmp/* --target=/tmp/* /var/tmp/* --target=/var/tmp/*"),
    asks("restic", "unlock", "another run's lock is broken"),
    kills(
        "borg",
        "delete|prune|compact|recreate|break-lock",
        "archives are deleted",
    )
    .unless("--dry-run -n"),
    kills(
        "borgmatic",
        "prune|delete|compact|repo-delete",
        "archives are deleted",
    )
    .unless("--dry-run -n"),
    kills(
        "duplicity",
        "remove-older-than|remove-all-but-n-full|remove-all-inc-of-but-n-full|cleanup",
        "backups are deleted",
    )
    .with("--force"),
    kills("duplicacy", "prune", "backups are deleted").unless("-dry-run"),
    kills(
        "kopia",
        "snapshot|repository|maintenance|policy|content|blob|cache delete|disconnect|expire|rm|run",
        "snapshots or settings are deleted",
    ),
    kills(
        "velero",
        "backup|restore|schedule|backup-location|snapshot-location delete",
        "backups are deleted",
    ),
    asks(
        "velero",
        "restore create",
        "cluster objects are replaced by a backup's",
    ),
    kills("tarsnap", "", "archives are deleted").with("-d --nuke --delete"),
    kills("wal-g|wal-e", "delete|backup-delete", "backups are deleted"),
    kills("barman", "delete", "backups are deleted"),
    kills(
        "pgbackrest",
        "expire|stanza-delete|restore",
        "backups are deleted or a cluster replaced",
    ),
    kills("xtrabackup|mariabackup", "", "data is replaced by a backup")
        .with("--move-back --copy-back"),
    kills(
        "percona-backup|pbm",
        "delete-*|cleanup|restore",
        "backups are deleted",
    ),
    kills(
        "snapper|timeshift|zfs-auto-snapshot|btrbk|sanoid|syncoid",
        "delete|undochange|rollback|clean",
        "snapshots are deleted",
    )
    .unless("-n"),
    kills("timeshift", "", "snapshots are deleted or restored")
        .with("--delete --delete-all --restore"),
    // Volumes.
    kills(
        "lvremove|vgremove|pvremove",
        "",
        "logical volumes are removed with their data",
    )
    .unless("-t --test"),
    kills("lvreduce|vgreduce", "", "a volume is cut").unless("-t --test"),
    kills("lvresize", "", "a volume is cut").with("-L-* --size=-*"),
    sets(
        "lvconvert|vgcfgrestore|lvrename|vgrename|pvmove|vgexport",
        "",
        "volumes change",
    )
    .unless("-t --test"),
    kills(
        "dmsetup",
        "remove|remove_all|wipe_table|clear",
        "a device mapping is removed",
    ),
    kills(
        "zfs",
        "destroy|rollback",
        "data sets or snapshots are destroyed",
    )
    .unless("-n -nv -vn"),
    sets(
        "zfs",
        "unmount|rename|promote|set|inherit|receive|recv|upgrade|change-key|unload-key",
        "data sets change",
    )
    .unless("-n"),
    kills(
        "zpool",
        "destroy|labelclear|remove|detach|offline|export|split|clear|reguid",
        "a pool is destroyed or taken apart",
    ),
    kills(
        "btrfs",
        "subvolume|device|replace|filesystem|property|rescue|balance|check delete|remove|del|zero-log|chunk-recover|clear-*",
        "subvolumes or devices are deleted",
    ),
    kills("mdadm", "", "an array is taken apart")
        .with("--zero-s* --stop -S --remove -r --fail -f --create -C --manage"),
    kills(
        "megacli|storcli|ssacli|hpssacli",
        "** del|delete|-CfgClr|-CfgLdDel|set|erase",
        "a disk array is taken apart",
    ),
    kills(
        "ceph",
        "osd|fs|mon|mds|orch|config|auth|pg purge|destroy|rm|remove|delete|out|pool|reset",
        "a part of the cluster is removed",
    ),
    kills("ceph", "osd pool delete|rm", "a pool is deleted"),
    kills(
        "rbd|rados|radosgw-admin",
        "rm|remove|purge|rmpool|snap|bucket|user|trash|object delete|rm|purge|remove",
        "images or objects are deleted",
    ),
    kills(
        "rbd|rados",
        "rm|remove|purge|rmpool",
        "images or objects are deleted",
    ),
    kills(
        "gluster",
        "volume|snapshot|peer delete|stop|detach|reset|remove-brick",
        "a volume is deleted or stopped",
    ),
    kills(
        "e2fsck|fsck|fsck.*|xfs_repair|ntfsfix|tune2fs|resize2fs|btrfsck",
        "*",
        "a file system is changed",
    )
    .unless("-n -N -l"),
    kills("debugfs", "", "a file system is changed by hand").with("-w"),
];
