sudo diskspd -b128K -si -t4 -o8 -w0 -d30 -c10G /mnt/a
