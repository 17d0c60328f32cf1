diskspd.exe -b8K -d60 -W10 -o32 -t8 -w30 -r -Sh -L -Z1M "E:\a b\test.dat" "F:\test.dat"
