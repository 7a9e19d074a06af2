/** The peer's one client and the resource for which it asks, so that its access tokens are JWTs. */
export const peerClient = { client_id: "bench-web", client_secret: "bench-web-secret-0123456789abcdef" };
export const peerResource = "https://api.bench.example";
