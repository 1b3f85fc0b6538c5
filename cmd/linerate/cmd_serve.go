package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/queue"
	"linerate/internal/site"
	"linerate/internal/web"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	ledger, listen string
	names          []string
	tokenFile      string
	plain          bool
}

func newServeCmd() *cobra.Command {
	var f serveFlags
	cmd := verb("serve", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return servePages(cmd, f) })
	addLedgerFlag(cmd, &f.ledger)
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:8099", "`ADDRESS:PORT` to listen on; port 0 is any that is free")
	cmd.Flags().StringArrayVar(&f.names, "name", nil, "host `NAME` by which browsers reach it, in addition to localhost and addresses")
	cmd.Flags().StringVar(&f.tokenFile, "token-file", "", "take the token from this `FILE` (default: a new one each time)")
	cmd.Flags().BoolVar(&f.plain, "plain", false, "listen on another address than localhost, for a proxy that has TLS")
	return cmd
}

// servePages serves the pages until interrupted.
func servePages(cmd *cobra.Command, f serveFlags) error {
	door, err := f.door()
	if err != nil {
		return err
	}
	in, err := siteInput()
	if err != nil {
		return err
	}
	in.Within = web.Nav()
	if at, err := ledger.Locate(f.ledger); err != nil {
		return err
	} else if f.ledger != "" && at.Path != "" { // named by the user
		if _, err := os.Stat(at.Path); err != nil {
			return hint.With(fmt.Errorf("ledger: %w", err), "studies and sweeps make one; without --ledger the usual place is looked at each time")
		}
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return hint.With(fmt.Errorf("listen: %w", err), "--listen 127.0.0.1:0 takes a port that is free")
	}
	door.Port = l.Addr().(*net.TCPAddr).Port
	s := web.New(web.Config{
		Open:      func(ctx context.Context) (ledger.Reader, error) { return assemble.ReadOnlyLedger(ctx, f.ledger) },
		OpenQueue: func(ctx context.Context) (queue.Reader, error) { return assemble.ReadOnlyQueue(ctx, f.ledger) },
		Catalogue: site.NewPages(in), Door: door, Built: in.Built,
		Log: func(err error) { fmt.Fprintf(cmd.ErrOrStderr(), "linerate: %v\n", err) },
	})
	fmt.Fprintln(cmd.OutOrStdout(), address(door, l.Addr()))
	fmt.Fprintln(cmd.ErrOrStderr(), "Ctrl-C ends it")
	err = errors.Join(s.Serve(cmd.Context(), l, web.Limits{}), s.Close())
	return err
}

// door returns the access rules of the server.
func (f *serveFlags) door() (d web.Door, err error) {
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return d, hint.With(hint.Usagef("--listen %s: %v", f.listen, err), "ADDRESS:PORT, as 127.0.0.1:8099")
	}
	d.Names = f.names
	ip := net.ParseIP(host)
	here := host == "localhost" || ip.IsLoopback()
	if ip == nil && host != "" {
		d.Names = append(d.Names, host)
	} else if name, err := os.Hostname(); err == nil && !here && len(f.names) == 0 {
		d.Names = append(d.Names, name)
	}
	if !here && !f.plain {
		return d, hint.With(hint.Usagef("--listen %s: others could read the token on the unencrypted connection", f.listen), "ssh -L 8099:127.0.0.1:8099 reaches localhost; --plain behind a proxy that has TLS")
	}
	d.Token, err = f.token()
	return d, err
}

// tokenBytes is the length of a generated token; minToken is the minimum length of a user's token,
// in characters.
const (
	tokenBytes = 24
	minToken   = 16
	maxToken   = 512
)

// token reads the token from its file, or generates one.
func (f *serveFlags) token() (string, error) {
	if f.tokenFile == "" {
		b := make([]byte, tokenBytes)
		rand.Read(b)
		return hex.EncodeToString(b), nil
	}
	info, err := os.Stat(f.tokenFile)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 && info.Mode().IsRegular() {
		return "", hint.With(fmt.Errorf("the token in %s can be read by others", f.tokenFile), "chmod 600 %s", f.tokenFile)
	}
	data, err := os.ReadFile(f.tokenFile)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(data))
	wrong := strings.ContainsFunc(token, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if len(token) < minToken || len(token) > maxToken || wrong {
		return "", hint.With(fmt.Errorf("%s holds no token: one line of %d to %d letters, digits, - and _", f.tokenFile, minToken, maxToken), "openssl rand -hex 24 > %s", f.tokenFile)
	}
	return token, nil
}

// address returns the URL of the page, including the token.
func address(d web.Door, at net.Addr) string {
	a := at.(*net.TCPAddr)
	u := url.URL{Scheme: "http", Host: a.String(), Path: "/", RawQuery: url.Values{"token": {d.Token}}.Encode()}
	if len(d.Names) > 0 {
		u.Host = net.JoinHostPort(d.Names[0], strconv.Itoa(a.Port))
	}
	return u.String()
}
