package dist

import (
	"fmt"
	"strings"
	"time"
)

// Port is the skeleton of a FreeBSD port: built from a source archive with the modules
// vendored, by whatever version of Go the tree has as its default.
func Port(p Package, sourceName string, source []byte, plist []string) []Entry {
	makefile := fmt.Sprintf(`PORTNAME=	linerate
DISTVERSION=	%s
CATEGORIES=	benchmarks sysutils
MASTER_SITES=	%s
DISTNAME=	%s

MAINTAINER=	%s
COMMENT=	%s
WWW=		%s

LICENSE=	BSD2CLAUSE
LICENSE_FILE=	${WRKSRC}/LICENSE

ONLY_FOR_ARCHS=	aarch64 amd64

USES=		go:modules

GO_TARGET=	./cmd/linerate
GO_BUILDFLAGS=	-ldflags "-s -w -X linerate/internal/cli.version=${DISTVERSION} -X linerate/internal/cli.date=%s"
CGO_ENABLED=	0

post-install:
	${STAGEDIR}${PREFIX}/bin/linerate manual ${STAGEDIR}${PREFIX}/share/man
	${MKDIR} ${STAGEDIR}${PREFIX}/share/bash-completion/completions \
		${STAGEDIR}${PREFIX}/share/zsh/site-functions \
		${STAGEDIR}${PREFIX}/share/fish/vendor_completions.d \
		${STAGEDIR}${PREFIX}/etc/periodic/daily \
		${STAGEDIR}${PREFIX}/etc/rc.d
	${STAGEDIR}${PREFIX}/bin/linerate completion bash > ${STAGEDIR}${PREFIX}/share/bash-completion/completions/linerate
	${STAGEDIR}${PREFIX}/bin/linerate completion zsh > ${STAGEDIR}${PREFIX}/share/zsh/site-functions/_linerate
	${STAGEDIR}${PREFIX}/bin/linerate completion fish > ${STAGEDIR}${PREFIX}/share/fish/vendor_completions.d/linerate.fish
	${INSTALL_SCRIPT} ${WRKSRC}/internal/dist/files/480.linerate \
		${STAGEDIR}${PREFIX}/etc/periodic/daily/480.linerate
	${INSTALL_SCRIPT} ${WRKSRC}/internal/dist/files/481.linerate-sweep \
		${STAGEDIR}${PREFIX}/etc/periodic/daily/481.linerate-sweep
	${INSTALL_SCRIPT} ${WRKSRC}/internal/dist/files/linerate_serve \
		${STAGEDIR}${PREFIX}/etc/rc.d/linerate_serve

.include <bsd.port.mk>
`, p.Version, orPlaceholder(p.Homepage), strings.TrimSuffix(sourceName, ".tar.gz"), address(p.Maintainer), p.Summary, orPlaceholder(p.Homepage), p.At.UTC().Format(time.DateOnly))
	distinfo := fmt.Sprintf("TIMESTAMP = %d\nSHA256 (%s) = %s\nSIZE (%s) = %d\n", p.At.Unix(), sourceName, sum(source), sourceName, len(source))
	at := "/" + FreeBSDOrigin + "/"
	return []Entry{
		{Path: at + "Makefile", Mode: 0o644, Data: []byte(makefile)},
		{Path: at + "distinfo", Mode: 0o644, Data: []byte(distinfo)},
		{Path: at + "pkg-descr", Mode: 0o644, Data: []byte(p.Description + "\n")},
		{Path: at + "pkg-plist", Mode: 0o644, Data: []byte(strings.Join(plist, "\n") + "\n")},
	}
}

// orPlaceholder is the URL, or a placeholder while the program is not published.
func orPlaceholder(url string) string {
	if url == "" {
		return "https://example.org/linerate/"
	}
	return url
}
