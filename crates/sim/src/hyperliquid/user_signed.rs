//! Actions that a master key signs by their fields. Section 5 of the notes has the types.

use serde::Deserialize;

use super::{
    action::Action,
    address::Address,
    hash::{Word, address_word, flag_word, struct_hash, text_word, whole_word},
};

/// What all of them say: the chain of the signature, and the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) id: u64,
    pub(super) network: String,
}

macro_rules! user_signed {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        pub(super) struct $name {
            signature_chain_id: String,
            hyperliquid_chain: String,
            $(pub(super) $field: $kind,)*
        }
    };
}

user_signed!(UsdSend {
    destination: String,
    amount: String,
    time: u64
});
user_signed!(SpotSend {
    destination: String,
    token: String,
    amount: String,
    time: u64
});
user_signed!(Withdraw3 {
    destination: String,
    amount: String,
    time: u64
});
user_signed!(UsdClassTransfer {
    amount: String,
    to_perp: bool,
    nonce: u64
});
user_signed!(SendAsset {
    destination: String,
    source_dex: String,
    destination_dex: String,
    token: String,
    amount: String,
    from_sub_account: String,
    nonce: u64,
});
user_signed!(ApproveAgent {
    agent_address: Address,
    agent_name: Option<String>,
    nonce: u64,
});
user_signed!(ApproveBuilderFee {
    max_fee_rate: String,
    builder: Address,
    nonce: u64
});

/// One action of the sort, ready to be hashed.
#[derive(Debug)]
pub(super) struct UserSigned {
    pub(super) chain: Chain,
    /// The nonce within the action, which the envelope repeats.
    pub(super) nonce: u64,
    pub(super) struct_hash: Word,
}

impl UserSigned {
    /// Reads the action, if it is of the sort.
    pub(super) fn of(action: &Action) -> Option<Self> {
        let text = |text: &str| text_word(text);
        let (id, network, nonce, name, fields, members) = match action {
            Action::UsdSend(it) => (
                &it.signature_chain_id,
                &it.hyperliquid_chain,
                it.time,
                "UsdSend",
                "string destination,string amount,uint64 time",
                vec![text(&it.destination), text(&it.amount), whole_word(it.time)],
            ),
            Action::SpotSend(it) => (
                &it.signature_chain_id,
                &it.hyperliquid_chain,
                it.time,
                "SpotSend",
                "string destination,string token,string amount,uint64 time",
                vec![
                    text(&it.destination),
                    text(&it.token),
                    text(&it.amount),
                    whole_word(it.time),
                ],
            ),
            Action::Withdraw3(it) => (
                &it.signature_chain_id,
                &it.hyperliquid_chain,
                it.time,
                "Withdraw",
                "string destination,string amount,uint64 time",
                vec![text(&it.destination), text(&it.amount), whole_word(it.time)],
            ),
            Action::UsdClassTransfer(it) => (
                &it.signature_chain_id,
                &it.hyperliquid_chain,
                it.nonce,
                "UsdClassTransfer",
                "string amount,bool toPerp,uint64 nonce",
                vec![
                    text(&it.amount),
                    flag_word(it.to_perp),
                    whole_word(it.nonce),
                ],
            ),
            Action::SendAsset(it) => (
                &it.signature_chain_id,
                &it.hyperliquid_chain,
                it.nonce,
                "SendAsset",
                "string destination,string sourceDex,string destinationDex,string token,string amount,\
                 string fromSubAccount,uint64 nonce",
                vec![
                    text(&it.destination),
                    text(&it.source_dex),
                    text(&it.destination_dex),
                    text(&it.token),
                    text(&it.amount),
                    text(&it.from_sub_account),
                    whole_word(it.nonce),
                ],
            ),
            Action::ApproveAgent(it) => (
                &it.signature_chain_id,
                &it.hyperliquid_chain,
                it.nonce,
                "ApproveAgent",
                "address agentAddress,string agentName,uint64 nonce",
                vec![
                    address_word(it.agent_address),
                    text(it.agent_name.as_deref().unwrap_or_default()),
                    whole_word(it.nonce),
                ],
            ),
            Action::ApproveBuilderFee(it) => (
                &it.signature_chain_id,
                &it.hyperliquid_chain,
                it.nonce,
                "ApproveBuilderFee",
                "string maxFeeRate,address builder,uint64 nonce",
                vec![
                    text(&it.max_fee_rate),
                    address_word(it.builder),
                    whole_word(it.nonce),
                ],
            ),
            Action::Order(_)
            | Action::Cancel(_)
            | Action::CancelByCloid(_)
            | Action::Modify(_)
            | Action::BatchModify(_)
            | Action::ScheduleCancel(_)
            | Action::Noop(_)
            | Action::UpdateLeverage(_)
            | Action::UpdateIsolatedMargin(_)
            | Action::TwapOrder(_)
            | Action::TwapCancel(_)
            | Action::ReserveRequestWeight(_)
            | Action::CreateSubAccount(_)
            | Action::SubAccountTransfer(_)
            | Action::VaultTransfer(_) => return None,
        };
        let id = id
            .strip_prefix("0x")
            .and_then(|id| u64::from_str_radix(id, 16).ok())?;
        let signature = format!("HyperliquidTransaction:{name}(string hyperliquidChain,{fields})");
        let members: Vec<Word> = std::iter::once(text(network)).chain(members).collect();
        Some(Self {
            chain: Chain {
                id,
                network: network.clone(),
            },
            nonce,
            struct_hash: struct_hash(&signature, &members),
        })
    }
}
