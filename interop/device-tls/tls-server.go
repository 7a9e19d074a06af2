// A TLS 1.3 server by Go's crypto/tls that requires a client certificate, names its subject and echoes lines.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"net"
	"os"
)

func main() {
	address := flag.String("address", "", "host:port to listen at")
	certificate := flag.String("cert", "", "the server's certificate, PEM")
	key := flag.String("key", "", "the server's private key, PEM")
	clientCA := flag.String("ca", "", "the authority of client certificates, PEM")
	p521 := flag.Bool("p521", false, "accept no other curve, so that the client has to send a second hello")
	flag.Parse()

	pair, err := tls.LoadX509KeyPair(*certificate, *key)
	exitOn(err)
	authority, err := os.ReadFile(*clientCA)
	exitOn(err)
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		exitOn(fmt.Errorf("%s holds no certificate", *clientCA))
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{pair},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    pool,
		MinVersion:   tls.VersionTLS13,
	}
	if *p521 {
		config.CurvePreferences = []tls.CurveID{tls.CurveP521}
	}
	listener, err := tls.Listen("tcp", *address, config)
	exitOn(err)
	fmt.Println("listening")
	for {
		connection, err := listener.Accept()
		exitOn(err)
		go serve(connection.(*tls.Conn))
	}
}

func serve(connection *tls.Conn) {
	defer func(c net.Conn) { _ = c.Close() }(connection)
	if err := connection.Handshake(); err != nil {
		fmt.Println("refused:", err)
		return
	}
	fmt.Println("accepted:", connection.ConnectionState().PeerCertificates[0].Subject)
	lines := bufio.NewReader(connection)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if _, err := connection.Write([]byte(line)); err != nil {
			return
		}
	}
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
