// Verifies a ledger with Go's own packages of the checksum database: notes by sumdb/note, the tree by sumdb/tlog.
// Arguments: the ledger's address, its verifier key, an earlier tree's size and root (base64), and the key of a witness.
package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func get(url string) []byte {
	answer, err := http.Get(url)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		log.Fatalf("%s: %d %v", url, answer.StatusCode, err)
	}
	return body
}

func hashOf(text string) tlog.Hash {
	bytes, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(bytes) != sha256.Size {
		log.Fatalf("not a hash: %s", text)
	}
	var hash tlog.Hash
	copy(hash[:], bytes)
	return hash
}

// cosigner verifies cosignature/v1 of C2SP tlog-cosignature, which sumdb/note takes as any other kind of signature.
type cosigner struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func (c cosigner) Name() string    { return c.name }
func (c cosigner) KeyHash() uint32 { return c.hash }
func (c cosigner) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	time := binary.BigEndian.Uint64(signature)
	cosigned := append([]byte(fmt.Sprintf("cosignature/v1\ntime %d\n", time)), text...)
	return ed25519.Verify(c.key, cosigned, signature[8:])
}

func cosignerOf(text string) cosigner {
	parts := strings.SplitN(text, "+", 3)
	if len(parts) != 3 {
		log.Fatalf("not a verifier key: %s", text)
	}
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != 4 {
		log.Fatalf("not a witness's key: %s", text)
	}
	hash := sha256.Sum256(append([]byte(parts[0]+"\n"), key...))
	return cosigner{parts[0], binary.BigEndian.Uint32(hash[:4]), key[1:]}
}

type tiles struct{ address string }

func (t tiles) Height() int { return 8 }

// tlog's own paths begin with the height of the tiles, those of C2SP do not.
func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var read [][]byte
	for _, tile := range wanted {
		path := strings.Replace(tile.Path(), "tile/8/", "tile/", 1)
		read = append(read, get(t.address+"/"+path))
	}
	return read, nil
}

func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func main() {
	address, key := os.Args[1], os.Args[2]
	verifier, err := note.NewVerifier(key)
	if err != nil {
		log.Fatal(err)
	}
	opened, err := note.Open(get(address+"/checkpoint"), note.VerifierList(verifier, cosignerOf(os.Args[5])))
	if err != nil {
		log.Fatal(err)
	}
	if len(opened.Sigs) != 2 || len(opened.UnverifiedSigs) != 0 {
		log.Fatalf("%d signatures verified, %d not", len(opened.Sigs), len(opened.UnverifiedSigs))
	}
	lines := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	tree := tlog.Tree{N: size, Hash: hashOf(lines[2])}
	reader := tlog.TileHashReader(tree, tiles{address})

	oldSize, _ := strconv.ParseInt(os.Args[3], 10, 64)
	proof, err := tlog.ProveTree(size, oldSize, reader)
	if err != nil {
		log.Fatal(err)
	}
	if err := tlog.CheckTree(proof, size, tree.Hash, oldSize, hashOf(os.Args[4])); err != nil {
		log.Fatal(err)
	}

	var index int64
	for bundle := int64(0); index < size; bundle++ {
		width := size - bundle*256
		if width > 256 {
			width = 256
		}
		path := strings.Replace(tlog.Tile{H: 8, L: 0, N: bundle, W: int(width)}.Path(), "tile/8/0/", "tile/entries/", 1)
		bytes := get(address + "/" + path)
		for len(bytes) > 0 {
			length := int(binary.BigEndian.Uint16(bytes))
			entry := bytes[2 : 2+length]
			bytes = bytes[2+length:]
			proof, err := tlog.ProveRecord(size, index, reader)
			if err != nil {
				log.Fatal(err)
			}
			if err := tlog.CheckRecord(proof, size, tree.Hash, index, tlog.RecordHash(entry)); err != nil {
				log.Fatalf("entry %d: %v", index, err)
			}
			index++
		}
	}
	fmt.Printf("%d entries verified, cosigned by %s\n", index, opened.Sigs[1].Name)
}
