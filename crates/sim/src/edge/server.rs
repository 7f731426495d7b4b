//! The listener of one venue, which a simulated restart closes and opens without giving up its port.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use serde_json::Value;
use tokio::{
    net::{TcpListener, TcpSocket},
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
};

use super::{
    connection,
    control::{self, Asked},
    fields::Wrong,
    stage::Venue,
};

/// Whether the venue can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Power {
    Up,
    Down,
    Off,
}

#[derive(Debug)]
struct Restart {
    down_ms: u64,
    down: oneshot::Sender<()>,
}

/// Turns the venue off and on.
#[derive(Debug, Clone)]
pub(super) struct Switch {
    power: watch::Sender<Power>,
    restarts: mpsc::Sender<Restart>,
}

impl Switch {
    pub(super) fn watch(&self) -> watch::Receiver<Power> {
        self.power.subscribe()
    }

    pub(super) fn power(&self) -> Power {
        *self.power.borrow()
    }

    /// Goes down; returns when nobody can connect any more.
    pub(super) async fn restart(&self, down_ms: u64) {
        let (down, is_down) = oneshot::channel();
        if self.restarts.send(Restart { down_ms, down }).await.is_ok() && is_down.await.is_err() {
            tracing::debug!("stopped while restarting");
        }
    }
}

/// A running venue.
#[derive(Debug)]
pub(crate) struct Server {
    addr: SocketAddr,
    switch: Switch,
    task: JoinHandle<()>,
}

impl Server {
    /// Listens on loopback. Port 0 is any free one.
    pub(crate) async fn start<V: Venue>(venue: Arc<V>, port: u16) -> io::Result<Self> {
        // Bound, never listening: it holds the port while the listener is closed, and the system refuses connections.
        let keeper = bound(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        let addr = keeper.local_addr()?;
        let listener = listening(addr)?;
        let power = watch::Sender::new(Power::Up);
        let (restarts, asked) = mpsc::channel(1);
        let switch = Switch { power, restarts };
        let own = switch.clone();
        let task = tokio::spawn(async move {
            run(Arc::clone(&venue), own, keeper, addr, listener, asked).await;
            venue.stage().world().close();
        });
        Ok(Self { addr, switch, task })
    }

    /// Where it listens.
    pub(crate) const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Answers a control request without a socket, so also while the venue is down. The target is without `/_sim`.
    pub(crate) async fn control<V: Venue>(
        &self,
        venue: &V,
        method: &str,
        target: &str,
        body: &Value,
    ) -> Result<Value, Wrong> {
        let method = method
            .parse()
            .map_err(|_| Wrong::new(format!("no {method} here")))?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let asked = Asked {
            method: &method,
            path,
            query,
            body: body.as_bytes(),
        };
        let answer = control::answer(venue, &asked);
        if let Some(down_ms) = answer.restart_ms {
            self.switch.restart(down_ms).await;
            venue.restarted();
        }
        answer.done
    }

    /// Closes everything and waits until the port is free.
    pub(crate) async fn stop(self) {
        self.switch.power.send_replace(Power::Off);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the server broke");
        }
    }

    /// Closes everything, without waiting.
    pub(crate) fn stop_soon(&self) {
        self.switch.power.send_replace(Power::Off);
    }
}

async fn run<V: Venue>(
    venue: Arc<V>,
    switch: Switch,
    _keeper: TcpSocket,
    addr: SocketAddr,
    mut listener: TcpListener,
    mut asked: mpsc::Receiver<Restart>,
) {
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(tokio::spawn(connection::serve(Arc::clone(&venue), switch.clone(), stream))),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            },
            Some(restart) = asked.recv() => {
                drop(listener);
                if off(&switch, Power::Down) {
                    return;
                }
                if restart.down.send(()).is_err() {
                    tracing::debug!("who asked for the restart is gone");
                }
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_millis(restart.down_ms)) => {}
                    () = turned_off(&switch) => return,
                }
                listener = loop {
                    match listening(addr) {
                        Ok(listener) => break listener,
                        Err(error) => {
                            tracing::warn!(%error, "cannot listen again");
                            tokio::time::sleep(Duration::from_millis(5)).await;
                        }
                    }
                };
                if off(&switch, Power::Up) {
                    return;
                }
            }
            () = turned_off(&switch) => return,
        }
    }
}

/// Waits until it is off for good.
async fn turned_off(switch: &Switch) {
    let mut power = switch.watch();
    drop(power.wait_for(|power| *power == Power::Off).await);
}

/// Sets the power, unless it is off for good; says whether it is.
fn off(switch: &Switch, next: Power) -> bool {
    let mut is_off = false;
    switch.power.send_modify(|power| {
        is_off = *power == Power::Off;
        if !is_off {
            *power = next;
        }
    });
    is_off
}

fn bound(addr: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(addr)?;
    Ok(socket)
}

fn listening(addr: SocketAddr) -> io::Result<TcpListener> {
    bound(addr)?.listen(4096)
}
