//! What is a secret goes, what looks like one stays.

use super::*;
use proptest::prelude::*;

#[test]
fn secrets_are_taken_out() {
    for (text, secret) in [
        ("git push https://ada:hunter2@example.org/x.git", "hunter2"),
        ("git push https://ada:p@ss@example.org/x.git", "p@ss"),
        (
            "git clone https://0123456789abcdef0123456789@example.org/x",
            "0123456789abcdef0123456789",
        ),
        (
            "curl -H 'Authorization: Bearer abcdef123456' https://x",
            "abcdef123456",
        ),
        (
            "curl -H \"Authorization: Basic YWRhOng=\" https://x",
            "YWRhOng=",
        ),
        ("export GITHUB_TOKEN=ghx123", "ghx123"),
        ("DB_PASSWORD='correct horse' ./run", "correct horse"),
        ("mysql --password hunter2 db", "hunter2"),
        ("mysql --password=hunter2 db", "hunter2"),
        ("{\"apiKey\": \"k-123\"}", "k-123"),
        ("{\"client_secret\":\"s3cr3t\"}", "s3cr3t"),
        ("password: hunter2", "hunter2"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI", "wJalrXUtnFEMI"),
        (
            "the secret is Zm9vYmFyMTIzNDU2Nzg5MEFC ok",
            "Zm9vYmFyMTIzNDU2Nzg5MEFC",
        ),
        (
            "echo ghp_0123456789abcdefABCDEF0123456789abcd",
            "ghp_0123456789abcdefABCDEF0123456789abcd",
        ),
        ("id AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n-----END OPENSSH PRIVATE KEY-----",
            "b3BlbnNz",
        ),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIcut", "MIIcut"),
        (
            "t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123",
            "eyJhbGciOiJIUzI1NiJ9",
        ),
        ("mysql -uroot -pS3cretPw -e 'drop table x'", "S3cretPw"),
        ("sudo mysql -pS3cretPw", "S3cretPw"),
        ("redis-cli -h x -a r3dis FLUSHALL", "r3dis"),
        ("sshpass -p 'two words' ssh h", "two words"),
        ("docker login -u me -p d0cker r.io", "d0cker"),
        ("sqlcmd -S h -U sa -P sqlS3cret -Q 'x'", "sqlS3cret"),
        ("zip -P zipS3cret o.zip a", "zipS3cret"),
        ("7z x -p7zS3cret a.7z", "7zS3cret"),
        ("mongodump -u a -p mongoS3cret", "mongoS3cret"),
        ("ldapsearch -D cn=x -w ldapS3cret -b y", "ldapS3cret"),
        ("curl -u admin:adm1n https://x", "adm1n"),
        ("curl --user=admin:adm1n https://x", "adm1n"),
        ("curl -b 'session=abc123' https://x", "abc123"),
        ("smbclient //h/s -U 'u%smbS3cret'", "smbS3cret"),
        ("htpasswd -cb f user htS3cret", "htS3cret"),
        ("echo sud0 | sudo -S ls", "sud0"),
        ("echo 'root:rootS3cret' | chpasswd", "rootS3cret"),
        (
            "ls; echo tok123 | docker login -u a --password-stdin",
            "tok123",
        ),
        ("gh auth login --with-token <<< tok123", "tok123"),
        (
            "echo 'machine x login u password netS3cret' > .netrc",
            "netS3cret",
        ),
        ("echo 'client-key-data: LS0tLS1CRUdJTg=='", "LS0tLS1CRUdJTg"),
        (
            "azcopy rm 'https://a.net/b?sv=2020&sig=AbCdEf%3D'",
            "AbCdEf",
        ),
        (
            "curl https://hooks.slack.com/services/T0/B0/XXXXYYYY",
            "XXXXYYYY",
        ),
        (
            "curl https://api.telegram.org/bot123456789:AAEhBOweik6ad9rQXMENQjcrGbqCr4Kbc/getMe",
            "AAEhBOweik6ad9rQXMENQjcrGbqCr4Kbc",
        ),
        (
            "echo MTA4NDk1NjQ3ODkwMTIzNDU2.GaBcDe.abcdefghijklmnopqrstuvwxyz0123456789AB",
            "GaBcDe",
        ),
        (
            "echo hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
            "abcdefghijklmnopqrstuvwxyz",
        ),
    ] {
        let clean = redact(text);
        assert!(!clean.contains(secret), "{text} -> {clean}");
        assert!(clean.contains(REDACTED), "{text} -> {clean}");
    }
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "git reset --hard HEAD~1",
        "cargo test --lib tokenizer::max_tokens=100",
        "git log 0123456789abcdef0123456789abcdef01234567",
        "curl https://example.org/a:b@c",
        "export GITHUB_TOKEN=$TOKEN",
        "rm src/password.rs",
        "sk-learn and task-runner",
        "https://user@example.org/x",
        "token_count: 12",
        "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----",
        "mysql -p db",
        "mkdir -p a/b && cp -pr x y",
        "ssh -p 2222 host",
        "docker run -p 8080:80 x",
        "psql -p 5432 -c 'drop table x'",
        "curl -u $USER:$PASS https://x",
        "curl -b cookies.txt https://x",
        "echo hello | sudo tee /etc/x",
        "echo mysql -p",
        "tar -xpf a.tar",
        "unzip -o a.zip",
        "git log --format=%H:%an",
        "curl 'https://x/?page=2&key=1'",
        "rsync -avp src/ x/",
        "twine upload dist/a",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn json_values_of_secret_names_go_whole() {
    let mut value =
        serde_json::json!({"env": {"API_KEY": "a b c", "PATH": "/bin"}, "list": ["TOKEN=x1"]});
    redact_value(&mut value);
    assert_eq!(
        value,
        serde_json::json!({"env": {"API_KEY": "[redacted]", "PATH": "/bin"}, "list": ["TOKEN=[redacted]"]})
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_to_its_end(text in "\\PC*") {
        let _ = redact(&text);
    }

    #[test]
    fn marks_in_any_order_never_fail(parts in prop::collection::vec(prop_oneof![
        Just("://"), Just("@"), Just(":"), Just("password"), Just("="), Just("\""), Just("é"),
        Just("-----BEGIN "), Just("PRIVATE KEY-----"), Just("eyJ"), Just("."), Just("Bearer "),
        Just("--token"), Just("mysql -p"), Just("curl -u "), Just("| sudo -S"), Just("echo "),
        Just("/bot1234567:"), Just("&sig="), Just("<<<"), Just("\n"), Just(";"), Just(" "), Just("ghp_"), Just("authorization:"), Just("密码"), Just("'"),
    ], 0..40)) {
        let _ = redact(&parts.concat());
    }

    #[test]
    fn a_planted_secret_never_stays(
        before in "[ -~]{0,40}",
        after in "( [ -~]{0,40})?",
        secret in "[A-Za-z0-9]{24,40}",
        form in 0..5usize,
    ) {
        let planted = match form {
            0 => format!("ghp_{secret}"),
            1 => format!("https://ada:{secret}@example.org/x"),
            2 => format!("-H 'Authorization: Bearer {secret}'"),
            3 => format!("API_TOKEN={secret}"),
            _ => format!("-----BEGIN PRIVATE KEY-----\n{secret}\n-----END PRIVATE KEY-----"),
        };
        let text = format!("{before} {planted}{after}");
        let clean = redact(&text).into_owned();
        prop_assert!(!clean.contains(&secret), "{} -> {}", text, clean);
    }
}
