/** https, since codes and tokens travel; plain http only where no other machine sees it. */
export function isServiceAddress(address: string): boolean {
  const url = URL.parse(address);
  if (!url) return false;
  const { protocol, hostname, username, password, search, hash } = url;
  const isPlain = username === "" && password === "" && search === "" && hash === "";
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return isPlain && (protocol === "https:" || (protocol === "http:" && isLocal));
}
