/** What sovereign signing does with its pools and agents: `modules/api-v1.ts` hands it in. */
import type { Act } from "../../../core/audit/audit.store.ts";
import type { CoreDeps } from "../../../core/core-deps.ts";
import type { AgentKey, SigningAgent } from "../../../core/signing-pools/agent-key.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import type { ChangeFeed } from "../../../db/change-feed.ts";
import type { ApiDeps } from "../frame/api-deps.ts";

export interface NewPool {
  readonly name: string;
  readonly algs: readonly string[];
  readonly maxTokenLifetimeSeconds: number;
  readonly issuerMode?: string;
  readonly tokenWaitSeconds?: number;
  readonly keyPublishDelaySeconds?: number;
  readonly maxPending?: number;
  readonly trustedRoots?: readonly string[];
  readonly requireX5c?: boolean;
  readonly threshold?: { readonly min: number; readonly max: number };
  readonly approvals?: number;
}

export interface PresentedKey {
  readonly jwk: Readonly<Record<string, unknown>>;
  readonly x5c?: readonly string[];
  readonly pop: string;
}

interface Inside extends CoreDeps {
  readonly changes: ChangeFeed;
  readonly baseUrl: string;
}

type Settings = Omit<
  SigningPool,
  | "orgId"
  | "id"
  | "issuerMode"
  | "threshold"
  | "createdAt"
  | "createdBy"
  | "updatedAt"
  | "disabledAt"
  | "version"
>;

/** Each throws `CodedError` where it refuses. */
export interface SigningAdmin {
  createPool(inside: Inside, by: Act, pool: NewPool): Promise<SigningPool>;
  checkPoolSettings(pool: NewPool, now: number): Promise<Settings>;
  /** Undefined when the pool was changed meanwhile. */
  changePool(inside: Inside, by: Act, before: SigningPool, to: Settings): Promise<SigningPool | undefined>;
  disablePool(
    inside: Inside,
    by: Act,
    change: { readonly id: string; readonly disabled: boolean },
  ): Promise<boolean>;
  deletePool(inside: Inside, by: Act, id: string): Promise<"deleted" | "in-use" | undefined>;
  registerAgent(
    inside: Inside,
    by: Act,
    agent: { readonly poolId: string; readonly name: string; readonly keys: readonly PresentedKey[] },
  ): Promise<{ readonly agent: SigningAgent; readonly apiKey: string; readonly keys: readonly AgentKey[] }>;
  addAgentKeys(
    inside: Inside,
    by: Act,
    added: { readonly agentId: string; readonly keys: readonly PresentedKey[] },
  ): Promise<readonly AgentKey[]>;
  deactivateAgent(
    inside: Inside,
    by: Act,
    ending: { readonly agentId: string; readonly compromised: boolean },
  ): Promise<boolean>;
  retireAgentKey(
    inside: Inside,
    by: Act,
    key: { readonly agentId: string; readonly kid: string },
  ): Promise<boolean>;
}

export interface SigningDeps extends ApiDeps {
  readonly signing: SigningAdmin;
}
