package targets

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
)

// sshd is a server for the current user on loopback, with a home directory of its own.
type sshd struct {
	daemon *daemon
	home   string // mounted over the user's home for its sessions
	client string // configuration for ssh -F
}

// ssh knows the server by this name.
const sshHost = "worker"

func startSSHD(dir string) (*sshd, error) {
	s := &sshd{home: filepath.Join(dir, "home"), client: filepath.Join(dir, "client")}
	if err := os.MkdirAll(s.home, 0o755); err != nil {
		return nil, err
	}
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"host", "user"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("ssh-keygen: %w\n%s", err, out)
		}
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	if err := s.configure(dir, me.Username, port); err != nil {
		return nil, err
	}
	// /run/sshd has to be there, and is not on a machine that runs no sshd.
	script := `mount -t tmpfs tmpfs /run && mkdir -m 0755 /run/sshd && mount --bind "$1" "$2" && exec /usr/sbin/sshd -D -e -f "$3"`
	s.daemon, err = startDaemon(exec.Command("sh", "-c", script, "sshd", s.home, me.HomeDir, filepath.Join(dir, "server")), dir)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *sshd) configure(dir, login string, port int) error {
	server := fmt.Sprintf(`Port %d
ListenAddress 127.0.0.1
HostKey %[2]s/host
AuthorizedKeysFile %[2]s/user.pub
PidFile none
StrictModes no
UsePAM no
UseDNS no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
PrintMotd no
MaxStartups 100
`, port, dir)
	client := fmt.Sprintf(`Host %s
	HostName 127.0.0.1
	Port %d
	User %s
	IdentityFile %[4]s/user
	IdentitiesOnly yes
	UserKnownHostsFile %[4]s/known
	GlobalKnownHostsFile none
	StrictHostKeyChecking yes
	BatchMode yes
	LogLevel ERROR
Host refused
	HostName 127.0.0.1
	Port 1
	BatchMode yes
`, sshHost, port, login, dir)
	key, err := os.ReadFile(filepath.Join(dir, "host.pub"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"server": server, "client": client, "known": fmt.Sprintf("[127.0.0.1]:%d %s", port, key),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
