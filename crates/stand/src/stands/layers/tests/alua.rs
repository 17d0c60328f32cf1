//! Paths of iSCSI that are not alike.

use super::check;
use expect_test::expect;

#[test]
fn a_path_that_is_not_the_first_choice_has_a_group_of_its_own_on_both_sides() {
    check(
        "- loop: {directory: /x, size: 16MiB}\n- iscsi: {paths: 2, active: 1}",
        expect![[r#"
            # mount the kernel's configuration
            modprobe configfs
            mount -t configfs configfs /sys/kernel/config
            # load the kernel's iSCSI target
            modprobe target_core_mod
            modprobe target_core_iblock
            modprobe iscsi_target_mod
            mkdir -- /sys/kernel/config/target/iscsi
            # make /sys/kernel/config/target/core/iblock_12003
            mkdir -- /sys/kernel/config/target/core/iblock_12003
            # export /dev/loop over iSCSI
            mkdir -- /sys/kernel/config/target/core/iblock_12003/disk1
            echo udev_path=/dev/loop > /sys/kernel/config/target/core/iblock_12003/disk1/control
            echo 5218d14a-c43a-4ca2-ac3d-95ae1636a69b > /sys/kernel/config/target/core/iblock_12003/disk1/wwn/vpd_unit_serial
            echo 1 > /sys/kernel/config/target/core/iblock_12003/disk1/enable
            # have disk1 not optimised over path 2
            mkdir -- /sys/kernel/config/target/core/iblock_12003/disk1/alua/path2
            echo 1 > /sys/kernel/config/target/core/iblock_12003/disk1/alua/path2/tg_pt_gp_id
            echo 1 > /sys/kernel/config/target/core/iblock_12003/disk1/alua/path2/alua_access_type
            echo 1 > /sys/kernel/config/target/core/iblock_12003/disk1/alua/path2/alua_access_state
            # make /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            # make the target iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1
            echo 0 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/authentication
            echo 0 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/demo_mode_write_protect
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/cache_dynamic_acls
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/attrib/generate_node_acls
            # make disk1 unit 0
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0
            ln --symbolic -- /sys/kernel/config/target/core/iblock_12003/disk1 /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0/disk1
            # make /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/127.0.0.1:42003
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/127.0.0.1:42003
            # make the target iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2
            echo 0 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2/attrib/authentication
            echo 0 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2/attrib/demo_mode_write_protect
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2/attrib/cache_dynamic_acls
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2/attrib/generate_node_acls
            # make disk1 unit 0
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2/lun/lun_0
            ln --symbolic -- /sys/kernel/config/target/core/iblock_12003/disk1 /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2/lun/lun_0/disk1
            # make /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2/np/127.0.0.1:42004
            mkdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2/np/127.0.0.1:42004
            # tell that of unit 0 at path 2
            echo path2 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2/lun/lun_0/alua_tg_pt_gp
            # open iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/enable
            # open iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            echo 1 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2/enable
            # start the initiator of iSCSI
            modprobe iscsi_tcp
            iscsid
            # log in to iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 at 127.0.0.1:42003
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42003 --op new
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42003 --op update --name node.startup --value manual
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42003 --login
            # log in to iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 at 127.0.0.1:42004
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42004 --op new
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42004 --op update --name node.startup --value manual
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42004 --login
            # find the disks at 127.0.0.1:42003
            # find the disks at 127.0.0.1:42004
            # join 2 paths to stend-x-iscsi-1
            modprobe scsi_dh_alua
            dmsetup create stend-x-iscsi-1 --uuid STEND-mpath-fbfde798-0269-45d9-a851-4ab1e3eaa720 --table '0 204800 multipath 0 1 alua 2 1 service-time 0 1 0 ISCSI[5218d14a-c43a-4ca2-ac3d-95ae1636a69b:42003] service-time 0 1 0 ISCSI[5218d14a-c43a-4ca2-ac3d-95ae1636a69b:42004]'
            # undo
            dmsetup remove --retry stend-x-iscsi-1
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42004 --logout
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42004 --op delete
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42003 --logout
            iscsiadm --mode node --targetname iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054 --portal 127.0.0.1:42003 --op delete
            echo 0 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2/enable
            echo 0 > /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/enable
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2/np/127.0.0.1:42004
            rm -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2/lun/lun_0/disk1
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2/lun/lun_0
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_2
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/np/127.0.0.1:42003
            rm -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0/disk1
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1/lun/lun_0
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054/tpgt_1
            rmdir -- /sys/kernel/config/target/iscsi/iqn.2003-01.org.linux-iscsi:b9ad730e-19f5-4bf7-a094-e59bd5b3d054
            rmdir -- /sys/kernel/config/target/core/iblock_12003/disk1/alua/path2
            rmdir -- /sys/kernel/config/target/core/iblock_12003/disk1
            rmdir -- /sys/kernel/config/target/core/iblock_12003
            # makes /dev/mapper/stend-x-iscsi-1
        "#]],
    );
}
