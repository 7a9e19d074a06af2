/** A name that a user is known by beside the address: `preferred_username` of the tokens. */

/** As it is kept and compared. */
export const usernameKey = (username: string): string => username.trim().normalize("NFKC").toLowerCase();

/** No @: it must not look like somebody's address. @param key as `usernameKey` gives it */
export const isUsername = (key: string): boolean => /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{1,63}$/u.test(key);
