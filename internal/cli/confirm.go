package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
)

// Confirm asks a yes-or-no question on the terminal; anything but a yes is a no. Without a
// terminal it returns an error: a command that changes hosts never takes silence for
// consent.
func Confirm(cmd *cobra.Command, question string) (bool, error) {
	in := cmd.InOrStdin()
	if file, ok := in.(*os.File); !ok || !IsTerminal(file) {
		return false, hint.With(hint.Usagef("standard input is not a terminal, so linerate cannot ask"), "add --yes to go on without asking")
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s [y/N] ", question)
	line, _ := bufio.NewReader(in).ReadString('\n')
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "y"), nil
}
