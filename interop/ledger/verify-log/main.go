// Verifies a ledger with Go's own packages of the checksum database: notes by sumdb/note, the tree by sumdb/tlog.
// Arguments: the ledger's address, its verifier key, and an earlier tree's size and root (base64).
package main

import (
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
	opened, err := note.Open(get(address+"/checkpoint"), note.VerifierList(verifier))
	if err != nil {
		log.Fatal(err)
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
	fmt.Printf("%d entries verified, %d other signatures\n", index, len(opened.UnverifiedSigs))
}
