//! Whose account it is: read from the venue, with the key in use. Pure but for the cell that keeps it.

use surefill_core::Reason;
use surefill_evm::Address;

use crate::error::ReadFailure;
use crate::outcome::Sent;
use crate::rows::body;
use crate::wire::UserRole;

/// What the venue says that an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An account with a key of its own.
    User,
    /// An agent of this account.
    Agent(Address),
    /// A sub-account of this account.
    SubAccount(Address),
    /// A vault.
    Vault,
    /// Nothing that the venue knows.
    Missing,
}

/// `userRole`.
///
/// # Errors
/// [`ReadFailure`].
pub fn role(sent: &Sent) -> Result<Role, ReadFailure> {
    let answer: UserRole = body(sent)?;
    let of = |text: Option<String>| {
        let address = text.and_then(|text| text.parse().ok());
        address.ok_or_else(|| ReadFailure::unreadable("a role without its account"))
    };
    let data = answer.data;
    match answer.role.as_str() {
        "user" => Ok(Role::User),
        "agent" => of(data.and_then(|data| data.user)).map(Role::Agent),
        "subAccount" => of(data.and_then(|data| data.master)).map(Role::SubAccount),
        "vault" => Ok(Role::Vault),
        "missing" => Ok(Role::Missing),
        other => Err(ReadFailure::unreadable(format!("role {other:?}"))),
    }
}

/// The account that a signer may trade for, out of its role; `named` is the one that the configuration names.
///
/// # Errors
/// [`ReadFailure::Keys`]: an agent of nobody or of another, or a key that is not of the account.
pub fn account(
    signer: Address,
    role: Role,
    named: Option<Address>,
) -> Result<Address, ReadFailure> {
    let account = match role {
        Role::User => signer,
        Role::Agent(account) => account,
        Role::Missing => {
            return refuse(format!(
                "the key of {signer} has no account, and no account has approved it as its agent"
            ));
        }
        Role::SubAccount(_) | Role::Vault => {
            return refuse(format!(
                "{signer} is a sub-account or a vault, and has no key"
            ));
        }
    };
    match named {
        Some(named) if named != account && named == signer => refuse(format!(
            "{named} is the address of an agent, and its account is {account}"
        )),
        Some(named) if named != account => refuse(format!(
            "the key of {signer} trades for {account}, and the configuration names {named}"
        )),
        Some(_) | None => Ok(account),
    }
}

/// Tests that an address can be traded for by an account.
///
/// # Errors
/// [`ReadFailure::Keys`].
pub fn vault(vault: Address, role: Role, account: Address) -> Result<(), ReadFailure> {
    match role {
        Role::Vault => Ok(()),
        Role::SubAccount(master) if master == account => Ok(()),
        Role::SubAccount(master) => refuse(format!(
            "{vault} is a sub-account of {master}, not of {account}"
        )),
        Role::Agent(_) => refuse(format!(
            "{vault} is the address of an agent, not of a vault"
        )),
        Role::User | Role::Missing => {
            refuse(format!("{vault} is neither a vault nor a sub-account"))
        }
    }
}

fn refuse<T>(text: String) -> Result<T, ReadFailure> {
    Err(ReadFailure::Keys(Reason::new("", &text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: Address = Address::from_bytes([1; 20]);
    const MASTER: Address = Address::from_bytes([2; 20]);
    const OTHER: Address = Address::from_bytes([3; 20]);

    #[test]
    fn an_agent_trades_for_its_account_only() {
        assert_eq!(account(AGENT, Role::Agent(MASTER), None), Ok(MASTER));
        assert_eq!(
            account(AGENT, Role::Agent(MASTER), Some(MASTER)),
            Ok(MASTER)
        );
        let text = |result: Result<Address, ReadFailure>| result.expect_err("refused").to_string();
        let shown = text(account(AGENT, Role::Agent(MASTER), Some(AGENT)));
        assert!(shown.contains("is the address of an agent"), "{shown}");
        let shown = text(account(AGENT, Role::Agent(MASTER), Some(OTHER)));
        assert!(shown.contains("the configuration names"), "{shown}");
        account(AGENT, Role::Missing, None).expect_err("not approved");
        account(MASTER, Role::User, Some(OTHER)).expect_err("another's");
        assert_eq!(account(MASTER, Role::User, None), Ok(MASTER));
    }

    #[test]
    fn a_vault_is_a_vault_or_a_sub_account_of_ours() {
        assert_eq!(vault(OTHER, Role::Vault, MASTER), Ok(()));
        assert_eq!(vault(OTHER, Role::SubAccount(MASTER), MASTER), Ok(()));
        for role in [
            Role::SubAccount(AGENT),
            Role::User,
            Role::Missing,
            Role::Agent(MASTER),
        ] {
            vault(OTHER, role, MASTER).expect_err("no vault of ours");
        }
    }
}
