/** Where the service's endpoints of a configuration are (sovereign-signing.md §5). */
export interface PoolPlace {
  /** The service's address, with or without a slash at its end. */
  readonly service: string;
  readonly organisation: string;
  readonly pool: string;
}

/** `{service}/oauth/{org}/sovereign` */
export const sovereignAddress = ({ service, organisation }: Omit<PoolPlace, "pool">): string =>
  `${service.replace(/\/+$/, "")}/oauth/${organisation}/sovereign`;

/** What a key's proof of possession is for, and the issuer of the pool's tokens unless the pool says otherwise. */
export const poolAddress = (place: PoolPlace): string => `${sovereignAddress(place)}/pools/${place.pool}`;
