# Web search: flows of a cluster of 6,000 servers (DCTCP), mean 1.7 MB
#
# Alizadeh and others: Data Center TCP (DCTCP), SIGCOMM 2010, figure 4, as read off by the HPCC
# authors for their evaluation (Li and others: HPCC, SIGCOMM 2019, section 5; traffic generator of
# github.com/alibaba-edu/High-Precision-Congestion-Control). Bytes, percent at most as large.
0 0
10000 15
20000 20
30000 30
50000 40
80000 53
200000 60
1000000 70
2000000 80
5000000 90
10000000 97
30000000 100
