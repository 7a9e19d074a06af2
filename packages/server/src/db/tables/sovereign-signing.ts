/** Sovereign signing. What is claimed, asked, answered and signed is sealed under the master key until it is purged. */

export interface SigningPoolTable {
  org_id: string;
  id: string;
  name: string;
  issuer_mode: string;
  /** JSON. */
  algs: string;
  max_token_lifetime_seconds: number;
  /** How long the token endpoint waits for an agent. */
  token_wait_seconds: number;
  /** How long a new key is published before it becomes active. */
  key_publish_delay_seconds: number;
  /** Limit of open requests. */
  max_pending: number;
  /** JSON: PEM texts. */
  trusted_roots: string;
  require_x5c: number;
  /** JSON `{min, max}`; null for a pool of whole keys. */
  threshold: string | null;
  /** Agents that approve each signature, the one that signs among them; 1: it alone. */
  approvals: number;
  created_at: number;
  created_by: string;
  updated_at: number;
  disabled_at: number | null;
  version: number;
}

export interface SigningAgentTable {
  org_id: string;
  id: string;
  pool_id: string;
  name: string;
  /** SHA-256 of the API key, base64url. */
  api_key_hash: string;
  created_at: number;
  created_by: string;
  last_seen_at: number | null;
  deactivated_at: number | null;
  compromised_at: number | null;
}

/** A key's state follows from its times and the clock, without a write: read it by `agentKeyState`. */
export interface AgentKeyTable {
  org_id: string;
  /** RFC 7638 thumbprint. */
  kid: string;
  pool_id: string;
  agent_id: string;
  /** JSON: the public members only. */
  public_jwk: string;
  alg: string;
  /** JSON: base64 DER texts, the leaf first. */
  x5c: string;
  created_at: number;
  active_from: number;
  /** The key signs nothing new from then on; null while it has no successor and its agent is active. */
  retiring_at: number | null;
  /** The latest expiry of its tokens, milliseconds. */
  last_token_exp: number | null;
  compromised_at: number | null;
  /** Of the ceremony that made this group key; then no agent has it, and `agent_id` is who began the ceremony. */
  ceremony_id: string | null;
}

/** A key is one agent's in the whole service: whoever registers it claims it first. It goes with the key, unless that was compromised. */
export interface AgentKeyClaimTable {
  /** RFC 7638 thumbprint. */
  kid: string;
  org_id: string;
}

/** A compromised key whose pool is deleted: it is never registered again. */
export interface CompromisedAgentKeyTable {
  org_id: string;
  /** RFC 7638 thumbprint. */
  kid: string;
  compromised_at: number;
}

export interface SigningRequestTable {
  org_id: string;
  id: string;
  pool_id: string;
  application_id: string;
  user_id: string | null;
  grant_type: string;
  interactive: number;
  parent_request_id: string | null;
  /** Sealed JSON: what each claim renders the tokens from, and what the agent is told beside them. */
  claims: string | null;
  /** JSON: by what the claims became the tokens that the lease's agent was handed. */
  rendering: string | null;
  /** JSON: SHA-256 of each signed input, by use; stays after the purge. */
  input_hashes: string | null;
  state: string;
  seq: number;
  attempts: number;
  /** JSON: agents that gave it back. */
  refused_by: string;
  claimed_by: string | null;
  kid: string | null;
  lease_token_hash: string | null;
  lease_until: number | null;
  /** Sealed JSON. */
  challenge: string | null;
  challenge_count: number;
  challenge_until: number | null;
  /** Sealed JSON. */
  answer: string | null;
  answered_at: number | null;
  bad_submissions: number;
  browser_session_hash: string | null;
  /** Sealed JSON: where the browser goes on to. */
  continuation: string | null;
  join_key_hash: string | null;
  /** Who of the token endpoint waits for it, and until when at the latest. */
  waiter: string | null;
  waiter_until: number | null;
  /** Sealed JSON: the JWTs, until they are released. */
  signed: string | null;
  signed_lease_hash: string | null;
  /** JSON: who signs, the bytes, and the approvals of them (requests/approvals/approval-plan.ts). */
  approvals: string | null;
  /** JSON: jti by use. */
  token_ids: string | null;
  token_exp: number | null;
  fail_reason: string | null;
  created_at: number;
  expires_at: number;
  signed_at: number | null;
  released_at: number | null;
  /** When it reached a final state; purged 30 days after. */
  ended_at: number | null;
}

/** An agent of a threshold pool: its identity key signs what it says in ceremonies, and no token. */
export interface ThresholdMemberTable {
  org_id: string;
  agent_id: string;
  pool_id: string;
  /** RFC 7638 thumbprint of the identity key. */
  kid: string;
  /** JSON. */
  public_jwk: string;
  /** How often the agent has been started; never lower than before. */
  boot: number;
  /** Random, of that start; empty before the first. */
  boot_id: string;
  seen_at: number;
  /** Takes part in no signature until then: it gave a wrong share. */
  excluded_until: number;
  created_at: number;
}

export interface ThresholdCeremonyTable {
  org_id: string;
  id: string;
  pool_id: string;
  state: string;
  min_signers: number;
  max_signers: number;
  begun_by: string;
  /** Of the group key: of a new one once it is published. */
  kid: string | null;
  /** `create` or `reshare`. */
  kind: string;
  /** Of a resharing: the ceremony that the members had their shares from. */
  from_ceremony: string | null;
  /** Of a resharing: the agents that are to have shares, JSON. */
  members: string | null;
  end_reason: string | null;
  created_at: number;
  ended_at: number | null;
}

export interface ThresholdMessageTable {
  org_id: string;
  ceremony_id: string;
  agent_id: string;
  round: string;
  /** A compact JWS. */
  message: string;
  created_at: number;
}

export interface ThresholdCommitmentTable {
  org_id: string;
  agent_id: string;
  /** base64url; the same in every signature that would use the same nonce. */
  hiding: string;
  binding: string;
  /** Of the group key. */
  kid: string;
  boot_id: string;
  created_at: number;
  request_id: string | null;
  used_at: number | null;
}

/** What one agent is asked for in one round of a signing request. */
export interface ThresholdPartTable {
  org_id: string;
  round_id: string;
  agent_id: string;
  request_id: string;
  pool_id: string;
  /** That the signers have their shares from; null before resharings were possible. */
  ceremony_id: string | null;
  state: string;
  /** JSON: hiding and binding commitment by use. */
  commitments: string;
  /** JSON: shares by use. */
  shares: string | null;
  reason: string | null;
  created_at: number;
  until: number;
}

export interface SovereignSigningSchema {
  threshold_member: ThresholdMemberTable;
  threshold_ceremony: ThresholdCeremonyTable;
  threshold_message: ThresholdMessageTable;
  threshold_commitment: ThresholdCommitmentTable;
  threshold_part: ThresholdPartTable;
  signing_pool: SigningPoolTable;
  signing_agent: SigningAgentTable;
  agent_key: AgentKeyTable;
  agent_key_claim: AgentKeyClaimTable;
  compromised_agent_key: CompromisedAgentKeyTable;
  signing_request: SigningRequestTable;
}
