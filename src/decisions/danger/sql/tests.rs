use super::*;

#[test]
fn what_destroys_is_found() {
    for query in [
        "DROP TABLE users",
        "drop table if exists users",
        "select 1; DROP DATABASE prod",
        "/* x */ DROP /* y */ SCHEMA s CASCADE",
        "SELECT 1 /*! ; DROP TABLE t */",
        "TRUNCATE orders",
        "TRUNCATE TABLE orders",
        "DELETE FROM users",
        "DELETE FROM users WHERE 1=1",
        "DELETE FROM users WHERE id = 5 OR 1=1",
        "DELETE FROM users WHERE TRUE",
        "DELETE FROM users WHERE 'a'='a' -- x",
        "WITH gone AS (DELETE FROM users RETURNING *) SELECT * FROM gone",
        "WITH x AS (SELECT 1) DELETE FROM users",
        "UPDATE users SET admin = true",
        "ALTER TABLE users DROP COLUMN email",
        "GRANT ALL ON *.* TO 'x'@'%'",
        "SELECT * FROM t INTO OUTFILE '/tmp/x'",
        "COPY t TO PROGRAM 'curl x'",
        "SELECT load_file('/etc/passwd')",
        "EXEC xp_cmdshell 'dir'",
        "EXPLAIN ANALYZE DELETE FROM users",
        "db.users.drop()",
        "db.dropDatabase()",
        "db.users.deleteMany({})",
        "FLUSHALL",
        "DELETE FROM users LIMIT 100000",
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE",
        "COPY t FROM '/etc/passwd'",
        "ATTACH DATABASE '/etc/x' AS y",
        "EXECUTE IMMEDIATE 'DROP TABLE x'",
        "RENAME TABLE a TO b",
        "SET GLOBAL max_connections = 1",
        "MATCH (n) DETACH DELETE n",
    ] {
        assert!(!dangers(query).is_empty(), "{query}");
    }
}

#[test]
fn what_reads_or_is_bounded_passes() {
    for query in [
        "SELECT * FROM sales WHERE date >= DATE_SUB(NOW(), INTERVAL 3 MONTH)",
        "SELECT 'DROP TABLE users' AS joke",
        "SELECT 1 -- DROP TABLE users",
        "DELETE FROM sessions WHERE expires < now()",
        "DELETE FROM t WHERE id IN (SELECT id FROM old)",
        "UPDATE users SET name = 'x' WHERE id = 7",
        "INSERT INTO t (a) VALUES ('1=1')",
        "SELECT truncate(1.234, 2)",
        "SELECT deleted, updated FROM t",
        "COPY t FROM 'data.csv'",
        "DELETE FROM users WHERE id = 3 LIMIT 1",
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = 1",
        "ALTER TABLE t ADD COLUMN x int",
        "ALTER TABLE t ALTER COLUMN x DROP DEFAULT",
        "SELECT a FROM t WHERE drop_date IS NULL",
        "db.users.find({})",
        "db.users.deleteMany({expired: true})",
        "MATCH (n:Session {id: 4}) DELETE n",
        "machine learning papers 2024",
        "",
    ] {
        assert_eq!(dangers(query), Vec::new(), "{query}");
    }
}
