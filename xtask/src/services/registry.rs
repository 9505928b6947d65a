//! A registry on loopback.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::started::Started;

/// A running registry.
pub struct Registry {
    address: String,
    data: PathBuf,
    #[allow(dead_code, reason = "held for its end")]
    server: Started,
}

impl Registry {
    /// Starts one that keeps everything in a folder.
    pub fn start(folder: &Path) -> Result<Self> {
        let address = free_address()?;
        let configuration = folder.join("config.yml");
        let data = folder.join("data");
        configure(&configuration, &address, &data)?;
        let arguments = ["serve".to_owned(), configuration.display().to_string()];
        let mut server = Started::new("docker-registry", &arguments, &folder.join("log"))?;
        server.until(|| TcpStream::connect(&address).is_ok())?;
        Ok(Self {
            address,
            data,
            server,
        })
    }

    /// Where everything of it is.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// `host:port`
    pub fn address(&self) -> &str {
        &self.address
    }
}

/// Writes the file that tells a registry where to listen, and where to keep what it has.
pub fn configure(file: &Path, address: &str, data: &Path) -> Result<()> {
    let text = format!(
        "version: 0.1\nlog:\n  level: warn\nstorage:\n  filesystem:\n    \
         rootdirectory: {}\nhttp:\n  addr: {address}\n",
        data.display()
    );
    Ok(std::fs::write(file, text)?)
}

/// One that nobody has at the moment.
fn free_address() -> Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.to_string())
}
