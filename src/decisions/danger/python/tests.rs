use super::*;

#[test]
fn code_that_runs_code_is_found_under_any_name() {
    let known = Known::default();
    for code in [
        "eval(x)",
        "exec('1')",
        "f = eval\nf('1')",
        "__import__('os').system('ls')",
        "import os\nos.system('ls')",
        "import os as o\no.system('ls')",
        "from os import system\nsystem('ls')",
        "from os import system as s\ns('ls')",
        "from os import *\nsystem('ls')",
        "from os import (\n  path,\n  popen,\n)\npopen('ls')",
        "import subprocess\nsubprocess.run(['ls'])",
        "from subprocess import run\nrun('ls', shell=True)",
        "import os; x = os; x.system('ls')",
        "import os\ngetattr(os, 'sys' + 'tem')('ls')",
        "().__class__.__base__.__subclasses__()",
        "import pickle\npickle.loads(b)",
        "f\"{__import__('os').system('id')}\"",
        "import shutil\nshutil.rmtree(path)",
        "import shutil\nshutil.rmtree('/')",
        "from pathlib import Path\nPath(x).unlink()",
        "import os\nprint(os.environ)",
        "import os\nos.environ['AWS_SECRET_ACCESS_KEY']",
        "import os\nos.getenv('DB_PASSWORD')",
        "import os\nos.getenv('DB_' + x)",
        "open('/etc/passwd').read()",
        "open('/etc/hosts', 'w').write('')",
        "open('/etc/cron.d/x', mode='a')",
        "from pathlib import Path\nPath('/usr/bin/x').write_text('')",
        "ｅｖａｌ('1')",
        "open('/etc' + '/shadow')",
        "open('/etc' '/shadow')",
        r"open('\x2fetc\x2fshadow')",
        "globals()['__builtins__']",
        "import requests\nrequests.get('http://169.254.169.254/latest')",
        "import urllib.request\nurllib.request.urlopen('file:///etc/passwd')",
        "import sqlite3\nsqlite3.connect('x').execute('DROP TABLE users')",
        "import yaml\nyaml.load(x)",
        "!rm -rf /",
    ] {
        assert!(!dangers(code, &known).is_empty(), "{code}");
    }
}

#[test]
fn code_that_computes_passes() {
    let known = Known::default();
    for code in [
        "import pandas as pd\ndf = pd.DataFrame(input_data)\ntrend = df.groupby('month')['amount'].sum()\nreturn {'trend': trend.to_dict()}",
        "import matplotlib.pyplot as plt\nplt.plot(trend.keys(), trend.values())\nplt.savefig('trend.png')\nreturn {'chart_path': 'trend.png'}",
        "# eval(x)\nreturn 1",
        "df.eval('a + b')",
        "import re\nre.compile('x')",
        "x = 'os.system(1)'",
        "import os\nos.path.join('a', 'b')",
        "import os\nos.getenv('HOME')",
        "import os\nos.environ.get('LANG', 'C')",
        "import os\nos.remove('trend.png')",
        "open('out.csv', 'w').write('x')",
        "open('/etc/os-release').read()",
        "model.eval()",
        "run(exec=True)",
        "return x / y",
        "print('it''s')",
        "import requests\nrequests.get('https://api.x.org/v1')",
        "cursor.execute('SELECT 1')",
        "import yaml\nyaml.load(x, Loader=yaml.SafeLoader)",
        "if a != b:\n  return 1",
        "x = 'a' + 'b' + c",
    ] {
        assert_eq!(dangers(code, &known), Vec::new(), "{code}");
    }
}

#[test]
fn a_sandbox_lets_code_run_but_keeps_secrets_and_system_files() {
    let known = Known {
        sandbox: true,
        ..Known::default()
    };
    assert_eq!(dangers("import os\nos.system('ls')", &known), Vec::new());
    assert!(!dangers("open('/etc/shadow')", &known).is_empty());
    assert!(!dangers("import os\nos.getenv('DB_PASSWORD')", &known).is_empty());
}
