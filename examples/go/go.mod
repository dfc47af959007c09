module example.org/espalier/worker

go 1.19
