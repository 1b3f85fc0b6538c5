package labtest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// VMKernel is the environment variable that names an unpacked kernel package of
// Debian's, for tests that boot virtual machines.
const VMKernel = "LINERATE_VM"

// NeedVM skips a test where nobody asked for virtual machines.
func NeedVM(t testing.TB) {
	t.Helper()
	if os.Getenv(VMKernel) == "" {
		t.Skip("set " + VMKernel + " to an unpacked kernel package to boot virtual machines")
	}
}

// VMImage is what a virtual machine boots: a kernel of Debian's, a first root that
// loads modules, and a disk.
type VMImage struct{ Kernel, Initrd, Disk string }

// VMRoot is what is on a virtual machine's disk, beside directories for the
// kernel's file systems.
type VMRoot struct {
	Size     string   // of the disk, as of mke2fs(8)
	Commands []string // of this machine, copied to /bin with their libraries
	Dirs     []string
	Links    map[string]string // from where to where
	// Files are texts by path; those that begin with #! can be run. Private ones
	// only root may read.
	Files   map[string]string
	Private []string
}

// vmDisk are the modules that a root on a virtual disk needs, in order.
var vmDisk = []string{"virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci", "virtio_blk"}

// NewVMImage makes what a virtual machine boots, in dir. Modules are those that it
// needs beside its disk's.
func NewVMImage(t testing.TB, dir string, modules []string, root VMRoot) VMImage {
	t.Helper()
	kernel := os.Getenv(VMKernel)
	return VMImage{vmFind(t, kernel, "vmlinuz-*"), vmInitrd(t, dir, kernel, append(vmDisk[:len(vmDisk):len(vmDisk)], modules...)), root.disk(t, dir)}
}

// Argv are QEMU's arguments that boot it, its console being the first serial port.
func (i VMImage) Argv(options string) []string {
	return []string{"-kernel", i.Kernel, "-initrd", i.Initrd, "-append", vmCommandLine + " " + options,
		"-drive", "file=" + i.Disk + ",format=raw,if=virtio,cache=writeback"}
}

const vmCommandLine = "console=ttyS0 quiet panic=1 no_timer_check tsc=unstable"

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

// vmInitrd loads modules and goes on with the disk.
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

// disk makes the root's disk in dir.
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
