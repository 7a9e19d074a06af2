/** Usernames: `preferred_username` in tokens. */

/** As stored and compared. */
export const usernameKey = (username: string): string => username.trim().normalize("NFKC").toLowerCase();

/** Without @, so that it can't look like an email address. @param key as returned by `usernameKey` */
export const isUsername = (key: string): boolean => /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{1,63}$/u.test(key);
