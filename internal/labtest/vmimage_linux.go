package labtest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// VMKernel is the environment variable with the directory of an unpacked Debian
// kernel package, for tests that boot virtual machines.
const VMKernel = "LINERATE_VM"

// NeedVM skips a test if virtual machines are not enabled.
func NeedVM(t testing.TB) {
	t.Helper()
	if os.Getenv(VMKernel) == "" {
		t.Skip("set " + VMKernel + " to an unpacked kernel package to boot virtual machines")
	}
}

// VMImage is what a virtual machine boots: a Debian kernel, an initrd that loads
// modules, and a disk; or a GRUB disk that loads both from the other disk.
type VMImage struct{ Kernel, Initrd, Disk, GRUB string }

// VMRoot is the content of a virtual machine's disk; mount points for the kernel's file
// systems are added.
type VMRoot struct {
	Size     string   // of the disk, in mke2fs(8)'s format
	Commands []string // of this machine, copied to /bin with their libraries
	Dirs     []string
	Links    map[string]string // target by link
	// Files are texts by path; those that begin with #! are executable. Private
	// ones are readable only by root.
	Files   map[string]string
	Private []string
	// Entries are GRUB's boot entries, each with a title and additions to the kernel's
	// command line. The first is the default. None: QEMU loads the kernel.
	Entries [][2]string
}

// vmDisk lists the modules for a root on a virtual disk, in order.
var vmDisk = []string{"virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci", "virtio_blk"}

// NewVMImage creates what a virtual machine boots, in dir. modules are needed in addition
// to those for its disk.
func NewVMImage(t testing.TB, dir string, modules []string, root VMRoot) VMImage {
	t.Helper()
	kernel := os.Getenv(VMKernel)
	i := VMImage{Kernel: vmFind(t, kernel, "vmlinuz-*"), Initrd: vmInitrd(t, dir, kernel, append(vmDisk[:len(vmDisk):len(vmDisk)], modules...))}
	if len(root.Entries) > 0 {
		i.GRUB = vmGRUB(t, dir)
		root.grub(t, i, dir)
	}
	i.Disk = root.disk(t, dir)
	return i
}

// Argv returns the QEMU arguments that boot it; its console is the first serial port.
func (i VMImage) Argv() []string {
	// The first disk is /dev/vda, whichever boots.
	disk := []string{"-drive", "file=" + i.Disk + ",format=raw,if=none,id=root,cache=writeback", "-device", "virtio-blk-pci,drive=root"}
	if i.GRUB != "" {
		return append(disk, "-drive", "file="+i.GRUB+",format=raw,if=none,id=grub", "-device", "virtio-blk-pci,drive=grub,bootindex=0")
	}
	return append(disk, "-kernel", i.Kernel, "-initrd", i.Initrd, "-append", vmCommandLine)
}

const vmCommandLine = "console=ttyS0 quiet panic=1 no_timer_check tsc=unstable net.ifnames=0"

// vmGRUB creates a disk that a BIOS boots, with only a GRUB that continues from
// the other disk: boot.img loads what follows at the next sector.
func vmGRUB(t testing.TB, dir string) string {
	t.Helper()
	const modules = "/usr/lib/grub/i386-pc"
	disk := dir + "/grub.img"
	sh(t, "sh", "-c", `grub-mkimage -d "$1" -O i386-pc -p '(hd1)/boot/grub' -o "$2.core" biosdisk ext2 linux normal loadenv test configfile &&
		cat "$1/boot.img" "$2.core" >"$2" && truncate -s 2M "$2"`, "sh", modules, disk)
	return disk
}

// grub adds what GRUB loads to the root, and the tools that set its next boot.
func (r *VMRoot) grub(t testing.TB, i VMImage, dir string) {
	t.Helper()
	boot := filepath.Join(dir, "disk", "boot")
	sh(t, "mkdir", "-p", boot, filepath.Join(dir, "disk/usr/share/grub"))
	sh(t, "cp", i.Kernel, boot+"/vmlinuz")
	sh(t, "cp", i.Initrd, boot+"/initrd.img")
	sh(t, "cp", "/usr/share/grub/grub-mkconfig_lib", filepath.Join(dir, "disk/usr/share/grub"))
	config := "set timeout=0\nload_env\nif [ \"${next_entry}\" ]; then\n\tset default=\"${next_entry}\"\n\tset next_entry=\n\tsave_env next_entry\nfi\n"
	for _, e := range r.Entries {
		config += "menuentry '" + e[0] + "' {\n\tlinux /boot/vmlinuz " + vmCommandLine + " " + e[1] + "\n\tinitrd /boot/initrd.img\n}\n"
	}
	vmWrite(t, boot+"/grub/grub.cfg", config, 0o644)
	sh(t, "grub-editenv", boot+"/grub/grubenv", "create")
	r.Commands = append(r.Commands[:len(r.Commands):len(r.Commands)], "grub-reboot", "grub-editenv", "grub-probe", "basename", "gettext")
}

func vmFind(t testing.TB, dir, pattern string) string {
	t.Helper()
	found := ""
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if ok, _ := filepath.Match(pattern, filepath.Base(p)); ok {
			found = p
			return fs.SkipAll
		}
		return nil
	})
	if found == "" {
		t.Fatalf("no %s under %s", pattern, dir)
	}
	return found
}

// vmInitrd creates an initrd that loads modules and switches to the disk.
func vmInitrd(t testing.TB, dir, kernel string, modules []string) string {
	t.Helper()
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal("busybox-static is not installed")
	}
	root := filepath.Join(dir, "initrd")
	sh(t, "mkdir", "-p", root+"/bin", root+"/root", root+"/dev")
	sh(t, "cp", busybox, root+"/bin/busybox")
	script := "#!/bin/busybox sh\n"
	for _, m := range modules {
		sh(t, "cp", vmFind(t, kernel, m+".ko"), root+"/"+m+".ko")
		script += "/bin/busybox insmod /" + m + ".ko\n"
	}
	script += "/bin/busybox mount -t devtmpfs dev /dev\n/bin/busybox mount -t ext4 /dev/vda /root || exec /bin/busybox reboot -f\n/bin/busybox mount -t devtmpfs dev /root/dev\nexec /bin/busybox switch_root /root /sbin/init\n"
	vmWrite(t, root+"/init", script, 0o755)
	image := dir + "/initrd.img"
	sh(t, "sh", "-c", `cd "$1" && find . | busybox cpio -o -H newc >"$2"`, "sh", root, image)
	return image
}

// disk creates the root's disk in dir.
func (r VMRoot) disk(t testing.TB, dir string) string {
	t.Helper()
	root := filepath.Join(dir, "disk")
	for _, d := range append([]string{"bin", "sbin", "proc", "sys", "dev", "tmp"}, r.Dirs...) {
		sh(t, "mkdir", "-p", filepath.Join(root, d))
	}
	for _, c := range r.Commands {
		vmCommand(t, root, c)
	}
	sh(t, "ln", "-s", "dash", root+"/bin/sh")
	sh(t, "ln", "-s", "mawk", root+"/bin/awk")
	for from, to := range r.Links {
		sh(t, "ln", "-s", to, filepath.Join(root, from))
	}
	for name, text := range r.Files {
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		vmWrite(t, filepath.Join(root, name), text, mode)
	}
	for _, name := range r.Private {
		sh(t, "chmod", "600", filepath.Join(root, name))
	}
	disk := dir + "/disk.img"
	sh(t, "mke2fs", "-q", "-t", "ext4", "-d", root, disk, r.Size)
	return disk
}

// vmCommand copies a command with its libraries.
func vmCommand(t testing.TB, root, name string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is not installed", name)
	}
	path, _ = filepath.EvalSymlinks(path)
	sh(t, "cp", path, filepath.Join(root, "bin", name))
	libs, _ := exec.Command("sh", "-c", `ldd "$1" | grep -o '/[^ ]*'`, "sh", path).Output()
	for lib := range strings.Lines(string(libs)) {
		lib = strings.TrimSpace(lib)
		sh(t, "mkdir", "-p", filepath.Join(root, filepath.Dir(lib)))
		sh(t, "cp", "-L", lib, filepath.Join(root, lib))
	}
}

func vmWrite(t testing.TB, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
