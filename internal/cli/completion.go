package cli

import (
	"github.com/spf13/cobra"

	"linerate/internal/hint"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

// newCompletionCmd prints the completion script for a shell.
func newCompletionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "print the completion script for a shell",
		Long: `Print the script that completes commands, flags, studies, tunables and roles.

    . <(linerate completion bash)      # needs the package bash-completion
    linerate completion zsh > "${fpath[1]}/_linerate"
    linerate completion fish | source`,
		Args:                  cobra.ExactArgs(1),
		ValidArgs:             shells,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			root, w := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(w, true)
			case "zsh":
				return root.GenZshCompletion(w)
			case "fish":
				return root.GenFishCompletion(w, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(w)
			}
			return hint.Unknown("shell", args[0], shells)
		},
	}
}
