# Storage: flows of an Alibaba storage cluster in 2019, mean 41 kB
#
# Published by Alibaba with the traffic generator of HPCC (Li and others: HPCC, SIGCOMM 2019;
# github.com/alibaba-edu/High-Precision-Congestion-Control). Bytes, percent at most as large.
0 0
4000 22.93
8000 69.21
16000 80.61
32000 90.47
64000 93.53
128000 96.77
256000 97.53
2000000 100
