/** The addresses of an organisation's sovereign endpoints (sovereign-signing.md §5). */
export interface PoolAddress {
  /** The service's URL, with or without a trailing slash. */
  readonly service: string;
  readonly organisation: string;
  readonly pool: string;
}

/** `{service}/oauth/{org}/sovereign` */
export const sovereignUrl = ({ service, organisation }: Omit<PoolAddress, "pool">): string =>
  `${service.replace(/\/+$/, "")}/oauth/${organisation}/sovereign`;

/** The audience of a key's proof of possession, and by default the issuer of the pool's tokens. */
export const poolUrl = (address: PoolAddress): string => `${sovereignUrl(address)}/pools/${address.pool}`;
