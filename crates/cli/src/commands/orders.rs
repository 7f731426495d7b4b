//! `surefill orders`: what the journal holds, also while an engine runs on it; or what a venue holds beside.

use surefill_core::{Alias, OrderFilter};
use surefill_store_sqlite::SqliteReader;

use crate::args::{OrdersArgs, StateArg};
use crate::config::{Config, VenueConfig};
use crate::documents::OrderDoc;
use crate::engine;
use crate::failure::{Exit, Failure};
use crate::output::Said;
use crate::{text, venue};

pub(crate) async fn run(config: &Config, args: &OrdersArgs) -> Result<Said, Failure> {
    let alias: Option<Alias> = args.venue.as_deref().map(Alias::from);
    let named = match &alias {
        Some(alias) => vec![config.venue(alias)?],
        None => config.venues.iter().collect(),
    };
    let mut orders = Vec::new();
    if args.foreign {
        // Without a journal every order there is a foreign one.
        let reader = match config.journal.exists() {
            true => Some(engine::reader(config)?),
            false => None,
        };
        for venue in named {
            orders.extend(foreign(venue, reader.as_ref()).await?);
        }
        orders.retain(|order| wanted(order, args));
    } else {
        let filter = OrderFilter {
            venue: alias,
            state: match args.state {
                Some(StateArg::One(state)) => Some(state),
                Some(StateArg::Open) | None => None,
            },
            open: args.state == Some(StateArg::Open),
            since: args.since,
            ..OrderFilter::default()
        };
        let rows = engine::reader(config)?.orders(&filter)?;
        orders.extend(rows.iter().map(OrderDoc::of));
    }
    let text = text::orders(&orders);
    Said::new(Exit::Done, &orders, text)
}

/// Open orders at a venue that the journal does not hold.
async fn foreign(
    config: &VenueConfig,
    reader: Option<&SqliteReader>,
) -> Result<Vec<OrderDoc>, Failure> {
    let connected = venue::connect(config)?;
    connected.venue.venue_time().await?;
    let open = connected.venue.open_orders(None).await?;
    let mut orders = Vec::new();
    for report in open.rows {
        let mut ours = None;
        if let Some(reader) = reader {
            if let Some(key) = &report.handle.key {
                ours = reader.by_key(&config.alias, key)?;
            }
            if let (None, Some(order_id)) = (ours, &report.handle.order_id) {
                ours = reader.by_order_id(&config.alias, order_id)?;
            }
        }
        if ours.is_none() {
            orders.push(OrderDoc::foreign(&config.alias, &report));
        }
    }
    Ok(orders)
}

fn wanted(order: &OrderDoc, args: &OrdersArgs) -> bool {
    let in_state = match args.state {
        // Only open ones are listed.
        Some(StateArg::Open) | None => true,
        Some(StateArg::One(state)) => order.state == state.as_str(),
    };
    let since = args.since.map(surefill_core::VenueTime::as_ms);
    in_state && since.is_none_or(|since| order.updated_at_ms.is_some_and(|at| at >= since))
}
