module signet.example/interop-post-quantum

go 1.22.0

require github.com/cloudflare/circl v1.6.1

require (
	golang.org/x/crypto v0.11.1-0.20230711161743-2e82bdd1719d // indirect
	golang.org/x/sys v0.10.0 // indirect
)
