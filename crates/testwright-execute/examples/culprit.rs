//! A program that does what its first argument says, for tests of the launcher. It tells what was refused.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::process::Command;
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize| arguments.get(index).map_or("", String::as_str);
    match argument(0) {
        "exit" => std::process::exit(argument(1).parse().expect("a number")),
        "abort" => std::process::abort(),
        "panic" => panic!("as asked"),
        "spin" => loop {
            std::hint::spin_loop();
        },
        "sleep" => std::thread::sleep(Duration::from_secs(1000)),
        "flood" => flood(argument(1).parse().expect("a number of bytes")),
        "write" => tell("write", std::fs::write(argument(1), "x")),
        "read" => tell("read", std::fs::read(argument(1))),
        "remove" => tell("remove", std::fs::remove_file(argument(1))),
        "chmod" => tell("chmod", std::fs::set_permissions(argument(1), permissions())),
        "touch" => {
            let file = std::fs::File::open(argument(1)).expect("a file");
            tell("mode", file.set_permissions(permissions()));
            tell("times", file.set_modified(std::time::SystemTime::UNIX_EPOCH));
        }
        "null" => tell("null", std::fs::write("/dev/null", "x")),
        "network" => {
            tell("listen", TcpListener::bind("127.0.0.1:0"));
            tell("connect", TcpStream::connect("127.0.0.1:1"));
            tell("datagram", UdpSocket::bind("127.0.0.1:0"));
            tell("local", UnixListener::bind("socket"));
            tell("pair", UnixStream::pair());
            let (mut left, mut right) = UnixStream::pair().expect("a pair");
            tell("write", left.write_all(b"x"));
            tell("read", right.read_exact(&mut [0]));
            let (left, right) = UnixDatagram::pair().expect("a pair");
            tell("send", left.send(b"x"));
            tell("receive", right.recv(&mut [0]));
            tell("elsewhere", left.send_to(b"x", argument(1)));
            tell("reconnect", left.connect(argument(1)));
        }
        "kill" => {
            let status = Command::new("/bin/sh").args(["-c", &format!("kill -9 {}", argument(1))]).status();
            tell("kill", status.map(|status| status.success()));
        }
        "child" => {
            let status = Command::new(std::env::current_exe().expect("a file")).args(["exit", "5"]).status();
            println!("child: {:?}", status.map(|status| status.code()));
        }
        "orphan" => {
            // It keeps this program's output open, too.
            let sleeper = Command::new("setsid").args(["sleep", "1000"]).spawn();
            let other = Command::new("sleep").arg("1000").spawn();
            println!("{} {}", sleeper.expect("it is there").id(), other.expect("it is there").id());
            std::thread::sleep(Duration::from_millis(100));
        }
        "environment" => {
            for (name, value) in std::env::vars() {
                println!("{name}={value}");
            }
            println!("folder={}", std::env::current_dir().expect("a folder").display());
        }
        "allocate" => {
            let memory = vec![1u8; argument(1).parse().expect("a number of bytes")];
            println!("{}", memory.len());
        }
        "descriptors" => {
            let open = std::fs::read_dir("/proc/self/fd").expect("a folder").count();
            // The folder itself is one of them.
            println!("{}", open - 1);
        }
        other => panic!("unknown: {other}"),
    }
}

fn tell<T>(what: &str, result: std::io::Result<T>) {
    match result {
        Ok(_) => println!("{what}: done"),
        Err(error) => println!("{what}: {:?}", error.kind()),
    }
}

fn permissions() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o600)
}

fn flood(mut bytes: usize) {
    let line = [b'x'; 4096];
    while bytes > 0 {
        let part = bytes.min(line.len());
        let _ = std::io::stdout().write_all(&line[..part]);
        let _ = std::io::stderr().write_all(&line[..part]);
        bytes -= part;
    }
    println!("the end");
}
