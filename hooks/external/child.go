package external

import "simplex/internal/program"

func startChild(cfg Config) (*program.Child, error) {
	path, err := program.LookPath(cfg.Command, cfg.Environment)
	if err != nil {
		return nil, err
	}
	return program.Start(program.Config{
		Path: path, Args: append([]string{cfg.Command}, cfg.Args...),
		Environment: cfg.Environment, WorkingDirectory: cfg.WorkingDirectory, Logger: cfg.Logger,
	})
}
