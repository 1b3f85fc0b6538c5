package main

import (
	"bufio"
	"fmt"
	"net"
	"strings"
)

// mailServer is a mail server for scripts, as webServer is one of the web. It
// takes what is not for user nobody. Who takes leave after mail to user again has
// had its answer.
func mailServer(l net.Listener, again func()) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go takeMail(c, again)
	}
}

func takeMail(c net.Conn, again func()) {
	defer c.Close()
	in := bufio.NewReader(c)
	answer, known := "220 mail", false
	for {
		fmt.Fprint(c, answer, "\r\n")
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch {
		case strings.HasPrefix(line, "RCPT TO:<nobody"):
			answer = "550 nobody is not here"
		case strings.HasPrefix(line, "RCPT TO:<again"):
			answer, known = "250 ok", true
		case line == "DATA\r\n":
			answer = "354 go on"
			fmt.Fprint(c, answer, "\r\n")
			for line != ".\r\n" {
				if line, err = in.ReadString('\n'); err != nil {
					return
				}
			}
			answer = "250 taken"
		case line == "QUIT\r\n":
			if known {
				again()
			}
			fmt.Fprint(c, "221 bye\r\n")
			return
		default:
			answer = "250 ok"
		}
	}
}
